import { randomUUID } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'

/** The variable that says which runs a process belongs to: what a run has started keeps it, wherever it goes. */
export const markVariable = 'ENTIA_PROCESS'

const isLinux = process.platform === 'linux'

/** An environment whose processes can be found, and the mark that finds them. Marks of runs around this one stay. */
export function marked(env: NodeJS.ProcessEnv): { readonly env: NodeJS.ProcessEnv; readonly mark: string } {
  const mark = randomUUID()
  const outer = env[markVariable]
  return { mark, env: { ...env, [markVariable]: outer === undefined ? mark : `${outer} ${mark}` } }
}

/** A process of this machine. */
export interface ProcessLine {
  readonly pid: number
  /** `Z`: it has ended and was not collected yet. */
  readonly state: string
  readonly parent: number
  readonly group: number
  /** When it was started, in ticks of the system. */
  readonly startedTicks: number
}

/** The processes of this machine, as far as the system tells: only Linux does. */
export function runningProcesses(): ProcessLine[] {
  if (!isLinux) return []
  return readdirSync('/proc').flatMap((name) => (/^\d+$/.test(name) ? (processLine(Number(name)) ?? []) : []))
}

/** `undefined`: it has ended, or the system does not tell. */
export function processLine(pid: number): ProcessLine | undefined {
  if (!isLinux) return undefined
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'latin1')
    // The name of the program stands in parentheses, and may hold any character.
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
    const [state = '', parent, group] = fields
    return { pid, state, parent: Number(parent), group: Number(group), startedTicks: Number(fields[19]) }
  } catch {
    return undefined
  }
}

/**
 * Processes with one of these marks, those that have left their group and whose parent has ended too. One that was started with
 * another environment is not found.
 *
 * @param sinceTicks none of them was started before. @default no limit
 */
export function markedProcesses(marks: readonly string[], sinceTicks = 0): number[] {
  return runningProcesses()
    .filter(({ pid, startedTicks, state }) => state !== 'Z' && startedTicks >= sinceTicks && hasMark(pid, marks))
    .map(({ pid }) => pid)
}

function hasMark(pid: number, marks: readonly string[]): boolean {
  try {
    const variables = readFileSync(`/proc/${pid}/environ`, 'latin1').split('\0')
    const own = variables.find((variable) => variable.startsWith(`${markVariable}=`))
    return own !== undefined && marks.some((mark) => own.includes(mark))
  } catch {
    // It has ended, or is another user's.
    return false
  }
}

/** Processes that these have started, and so on. Linux tells; elsewhere the group has to do. */
export function descendantsOf(roots: readonly number[]): number[] {
  const byParent = Map.groupBy(runningProcesses(), ({ parent }) => parent)
  const found = new Set<number>()
  const open = [...roots]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    for (const { pid } of byParent.get(next) ?? []) {
      if (found.has(pid)) continue
      found.add(pid)
      open.push(pid)
    }
  }
  return [...found]
}
