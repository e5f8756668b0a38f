import { z } from 'zod'
import { Effect } from '../../../components/effects/effect.ts'
import { Pending } from '../../../components/effects/pending.ts'
import { filledText } from './arguments.ts'
import { worldTool } from './world-tool.ts'

const input = () => z.object({ query: filledText() })

/** `recall`: searches what the agent no longer sees of its conversation; the store does, and the call stays open meanwhile. */
export const recall = worldTool('recall', input, (world, _, { call }) => {
  world.add(call, Effect({ attempt: 1, kind: 'recall', restart: 'pure' }))
  world.add(call, Pending)
  return undefined
})
