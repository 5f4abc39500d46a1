"""What the parent and the child say to each other.

The parent starts the child with two descriptors: on one it sends a request, a JSON object on a line, and holds it open
as long as it lives; on the other the child answers, one JSON object a line. Standard output and error of the child
belong to the kernel file and the compiler. What the child says is an event; the parent adds the time, completes some
(`engine.record`), and appends them to the journal, so that a capture is what folding the journal gives
(`store.journal.fold`).

The events of a capture, in the order in which they come; each has "event", the rest of its keys are:

    request     (parent) format, request, command, created, versions
    note        text                         something that a reader of the capture should know
    loaded      versions, function, signature (that was used), options, notes
    key         hash, components; the parent adds id
    begin       stage                        the compiler enters a stage
    pass_begin  step, stage, name, options, call (what adds the pass again), printed
    pass        from the child: step, stage, name, options, ms, kind ("pass", "step", or "edited": a pass whose result
                was exchanged), raw (a file with the text that it left, None where that is what was there), printed (the
                span of descriptor 2's file that the compiler wrote meanwhile), llvm_dump; in the journal: the fields of
                model.PassRecord
    skipped     step, stage, name, options   a pass that was left out; in the journal: a "pass" with method "skipped"
    dumped      stage, first, printed, raw   without interception: the passes of a stage, as the compiler printed them
    restart     reason                       the compilation begins anew; what came since "key" counts no more
    stage       the fields of model.Stage: an artefact is on disk; edited, where it is a text that was given
    metadata    metadata                     Triton's final metadata
    resources   resources
    failure     from the child: stage, step, error, message, printed, or a front-end error's fields; in the journal: the
                fields of model.Failure
    error       kind (a class of `errors`), message: a usage error, or something is missing
    verified    (parent) verified            of --verify
    done        seconds                      the child has nothing more to say
    end         (parent) status, seconds
    traced      (parent) launches, tuning: of a traced program, as fields of model.Launch and model.Tuning; after "end"

Before all of these comes "hello", which says no more than that a Python runs our worker; `client` keeps it to itself.

In a traced program each capture has a line of its own to the recorder, a Unix socket (`trace.line`). It begins with
"compile" {name, path, function, backend, arch, warp_size}, is answered {capture: whether it is wanted, folder, log,
output, private, request}, and goes on with the events above; "died" {message} where its process did. The program itself
has another, which begins with "program" and says "launch" {key, grid, arguments, count}, "tuned" {key, config, ms,
best}, "say" {text}, which is answered, "stopped" {text} where it cannot go on, and "reported" at a report's end.

A request for "attempts" is followed by further lines, each answered with "tried": how, message, signal, printed.
Other requests than a capture are answered with "described", "plain", "replayed" or "failure", "sass" (text) and
"resources" of machine code that another process left, or "error".
"""

__all__ = ["PRIVATE_FOLDER"]

#: The variable that tells the child which folder is its own: for Triton's cache, and for temporary files.
PRIVATE_FOLDER = "TRITONSCOPE_PRIVATE_FOLDER"
