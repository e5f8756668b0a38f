/** Characters of a line that `read_file` shows. */
export const maxLineChars = 2_000
