/** Kinds of work that a user can name; each is a bundle of defaults. */
export const taskClasses = ['debug', 'implement', 'chat', 'research', 'review'] as const
export type TaskClass = (typeof taskClasses)[number]
