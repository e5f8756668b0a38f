/** How much of a line `read_file` shows, in characters. */
export const maxLineChars = 2_000
