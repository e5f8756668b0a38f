import { cache } from './cache.tsx'
import { conversation } from './conversation.tsx'
import { money } from './money.tsx'
import { request } from './request.tsx'
import { inboxView } from './inbox.tsx'
import { laws } from './laws.tsx'
import { sessions } from './sessions.tsx'
import { timeline } from './timeline.tsx'
import type { View } from './view.ts'
import { waits } from './waits.tsx'
import { world } from './world.tsx'

/** The views in the order of the page: one line each. */
export const views: readonly View[] = [
  sessions,
  conversation,
  request,
  cache,
  timeline,
  world,
  inboxView,
  money,
  waits,
  laws,
]
