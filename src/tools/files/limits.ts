/** How much of a line `read_file` shows, in characters. */
export const maxLineChars = 2_000

/** Longest pattern for paths that a model may give. */
export const maxGlobChars = 1_000
