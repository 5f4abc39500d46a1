"""What the parent and the child say to each other.

The parent starts the child with the number of a descriptor, to which the child writes one JSON object a line, and sends
one request, a JSON object, on another. Standard output and error of the child belong to the kernel file and the
compiler. Each line the child sends is an event; the parent adds the time and appends it to the journal, so the journal
is the conversation, and a capture is what folding it gives (`store.journal.fold`).

Events, in the order in which they come; every one has "event", the rest of its keys are:

    request    (parent) capture format, request, command, created, versions {tritonscope, python}
    loaded     versions {python, triton, ptxas, ..}, function, signature (the text that was used), options {..}, notes [..]
    key        hash, components {..}, id
    begin      stage                       the compiler enters a stage
    pass_begin step, stage, name, options  a pass starts
    pass       the fields of model.PassRecord: a pass has ended
    stage      the fields of model.Stage: an artefact is on disk
    metadata   metadata {..}               Triton's final metadata
    resources  resources {..}
    verified   verified {stage: same}      of --verify
    note       text                        something a reader of the capture should know
    failure    the fields of model.Failure
    error      kind, message               a usage error or something missing: there is no capture
    done       seconds                     the child has nothing more to say
    end        (parent) status, seconds
"""
