import type { HandleStore, Json, Tool, ToolContext, ToolOutput } from 'entia'

/** What a Runner would hand to a handler. */
export function toolContext(changes: Partial<ToolContext> = {}): ToolContext {
  return {
    signal: new AbortController().signal,
    key: 'key-1',
    attempt: 1,
    agent: 1,
    world: 'world',
    progress: () => {},
    sleep: () => Promise.reject(new Error('nothing sleeps here')),
    post: () => Promise.reject(new Error('nothing is posted here')),
    message: () => Promise.reject(new Error('nothing is said here')),
    ...changes,
  }
}

export async function callTool(tool: Tool, input: Json, changes: Partial<ToolContext> = {}): Promise<ToolOutput> {
  return tool.call(input, toolContext(changes))
}

/** The text of a call's result, errors included. */
export async function callText(tool: Tool, input: Json, changes: Partial<ToolContext> = {}): Promise<string> {
  return textOf(await callTool(tool, input, changes))
}

export function textOf(output: ToolOutput): string {
  return output.content.map((block) => (block.type === 'text' ? block.text : '')).join('')
}

/** A store of handles that a test reads: what is kept goes into the list. */
export function handlesIn(kept: Json[]): HandleStore {
  const name = (count: number): string => `.h_${String(count).padStart(3, '0')}`
  return {
    isReadable: true,
    keep: (value) => Promise.resolve(name(kept.push(value))),
    keepLive: (shape) => Promise.resolve(name(kept.push(shape))),
    read: (handle) => Promise.resolve(kept[Number(handle.slice(3)) - 1]),
    list: () => kept.map((value, index) => ({ handle: name(index + 1), shape: typeof value })),
  }
}
