# SPDX-License-Identifier: MIT
# blocks.awk — writes every fenced block of Markdown pages to a file, and prints one line for each:
# file, page, line of the fence, language, and the marks before it, separated by tabs ("-": none).
#
#     awk -v out=FOLDER -f blocks.awk PAGE...
#
# A mark is an HTML comment on a line of its own before the fence; blocks.sh says what each means.

function forget() { context = name = reason = scope = "-" }

# value TEXT: what stands between the first ": " of a comment and its end.
function value(text) {
    sub(/^[^:]*: */, "", text)
    sub(/ *-->.*$/, "", text)
    return text
}

FNR == 1 {
    if (inside)
        unclosed(page, start)
    inside = 0
    page = FILENAME
    forget()
}

function unclosed(page, line) {
    printf "-\t%s\t%d\tunclosed\t-\t-\t-\t-\n", page, line
}

inside && /^ *```+ *$/ {
    inside = 0
    close(file)
    printf "%s\t%s\t%d\t%s\t%s\t%s\t%s\t%s\n", file, page, start, language, context, name, reason, scope
    forget()
    next
}

inside {
    line = $0
    for (i = 0; i < indent && substr(line, 1, 1) == " "; i++)
        line = substr(line, 2)
    print line >file
    next
}

/^ *```/ {
    inside = 1
    start = FNR
    match($0, /^ */)
    indent = RLENGTH
    language = $0
    gsub(/[` ]/, "", language)
    if (language == "")
        language = "-"
    file = out "/" ++count
    printf "" >file
    next
}

/^ *<!-- context: / { context = context == "-" ? value($0) : context ", " value($0); next }
/^ *<!-- file: / { name = value($0); next }
/^ *<!-- file scope -->/ { scope = "file"; next }
/^ *<!-- not run: / { reason = value($0); next }
NF { forget() }

END {
    if (inside)
        unclosed(page, start)
}
