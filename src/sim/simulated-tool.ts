import { z } from 'zod'
import type { HandleStore, Tool, ToolOutput } from '../tools/port.ts'
import type { Range } from './chance.ts'
import type { Fault } from './fault.ts'
import { inSimulation, presentWorker } from './real-use.ts'
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
      const handles = context.handles && ofTheEngine(context.handles)
      return work.call({ kind: 'tool', name, key, attempt, world }, context.sleep, async (call) => {
        const { chance, at } = call
        const fault = work.strike('tool', at, () => true)
        const totalMs = fault?.ms ?? call.latencyMs(latencyMs)
        const beforeMs = chance.within([0, totalMs], `${at} before`)
        const sleep = (ms: number): Promise<void> => call.sleep(ms)
        const handle = async (): Promise<ToolOutput> => {
          if (fault?.what === 'tool.throws') throw new Error('The service is down.')
          return inner.call(input, { ...context, sleep, ...(handles && { handles }) })
        }
        const output = await call.does(handle, fault?.what === 'tool.hang' ? Infinity : beforeMs)
        return await call.does(() => spoiled(fault, output), totalMs - beforeMs)
      })
    },
  }
}

/** What the engine does about a handle, and the ticks that follow from it, are not the work of the tool. */
function ofTheEngine(handles: HandleStore): HandleStore {
  const outer = presentWorker()
  return {
    isReadable: handles.isReadable,
    keep: (value) => inSimulation(outer, (given) => handles.keep(given), value),
    keepLive: (shape) => inSimulation(outer, (given) => handles.keepLive(given), shape),
    read: (handle) => inSimulation(outer, (given) => handles.read(given), handle),
    list: () => handles.list(),
  }
}

function spoiled(fault: Fault | undefined, output: ToolOutput): ToolOutput {
  if (fault?.what === 'tool.throwsLate') throw new Error('The connection was reset.')
  if (fault?.what === 'tool.oversized') return { content: [{ type: 'text', text: 'x'.repeat(oversizedChars) }] }
  // An unchecked handler may return anything.
  if (fault?.what === 'tool.invalid') return z.custom<ToolOutput>(() => true).parse({ content: [{ type: 'text' }] })
  return output
}
