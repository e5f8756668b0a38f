import type { Law } from '../law.ts'

/** What holds in every world, whatever its agents do and whatever befalls it. */
export const standardLaws: readonly Law[] = []
