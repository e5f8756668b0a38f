import type { Runner } from './runner.ts'

/** What programs need of whoever drives a world, here, or elsewhere while it is followed. */
export type WorldDriver = Pick<Runner, 'cancel' | 'on' | 'post' | 'textSoFar' | 'world'>
