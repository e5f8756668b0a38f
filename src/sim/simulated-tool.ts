import { z } from 'zod'
import type { Tool, ToolOutput } from '../tools/port.ts'
import type { Range } from './chance.ts'
import type { Fault } from './fault.ts'
import type { SimulatedWork } from './simulated-work.ts'

const oversizedChars = 1_000_000

/**
 * A simulated tool: part of its latency passes before the handler runs and part after it, so that a crash may separate
 * the work from its outcome.
 */
export function simulatedTool(inner: Tool, work: SimulatedWork, latencyMs: Range): Tool {
  const { name } = inner.declaration
  return {
    declaration: inner.declaration,
    call(input, context) {
      const { attempt, key, world } = context
      return work.call({ kind: 'tool', name, key, attempt, world }, context.sleep, async (call) => {
        const { chance, at } = call
        const fault = work.strike('tool', at, () => true)
        const totalMs = fault?.ms ?? chance.within(latencyMs, `${at} latency`)
        const beforeMs = chance.within([0, totalMs], `${at} before`)
        const sleep = (ms: number): Promise<void> => call.sleep(ms)
        const handle = async (): Promise<ToolOutput> => {
          if (fault?.what === 'tool.throws') throw new Error('The service is down.')
          return inner.call(input, { ...context, sleep })
        }
        const output = await call.does(handle, fault?.what === 'tool.hang' ? Infinity : beforeMs)
        return await call.does(() => spoiled(fault, output), totalMs - beforeMs)
      })
    },
  }
}

function spoiled(fault: Fault | undefined, output: ToolOutput): ToolOutput {
  if (fault?.what === 'tool.throwsLate') throw new Error('The connection was reset.')
  if (fault?.what === 'tool.oversized') return { content: [{ type: 'text', text: 'x'.repeat(oversizedChars) }] }
  // An unchecked handler may return anything.
  if (fault?.what === 'tool.invalid') return z.custom<ToolOutput>(() => true).parse({ content: [{ type: 'text' }] })
  return output
}
