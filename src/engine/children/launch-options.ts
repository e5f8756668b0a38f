import { EntiaError } from '../../world/entia-error.ts'
import { refuseUnknownOptions, shortly } from '../../world/known-options.ts'

/** What a program asks of a subagent. */
export interface LaunchOptions {
  /** The name of a subagent. Absent: the registry's default, or else a fork. */
  readonly category?: string | undefined
  readonly prompt: string
  /** Further skills to install. @default none */
  readonly loadSkills?: readonly string[] | undefined
  /** Longest run, from admission. @default that of the standard systems */
  readonly timeoutMs?: number | undefined
  /** Whether the agent is told of the end. @default true */
  readonly notify?: boolean | undefined
}

const known = ['category', 'prompt', 'loadSkills', 'timeoutMs', 'notify']

/** The part of a `delegate` input that options say. @throws `invalid-argument` */
export function checkedLaunch(options: LaunchOptions) {
  refuseUnknownOptions('subagents', options, known)
  const { category, prompt, loadSkills = [], timeoutMs, notify = true } = options
  checkedPrompt(prompt)
  if (category !== undefined && !isFilled(category)) throw refusal('category: expected a text that is not empty')
  if (!Array.isArray(loadSkills) || !loadSkills.every(isFilled)) throw refusal('loadSkills: expected a list of names')
  if (timeoutMs !== undefined && !(Number.isFinite(timeoutMs) && timeoutMs > 0)) {
    throw refusal(`timeoutMs: expected a number above 0, came ${shortly(timeoutMs)}`)
  }
  return {
    ...(category !== undefined && { category }),
    prompt,
    ...(loadSkills.length > 0 && { loadSkills: [...loadSkills] as string[] }),
    ...(timeoutMs !== undefined && { timeoutMs }),
    ...(!notify && { notify: false as const }),
  }
}

/** @throws `invalid-argument` */
export function checkedPrompt(prompt: unknown): void {
  if (!isFilled(prompt)) throw refusal('prompt: expected a text that is not empty')
}

function isFilled(text: unknown): boolean {
  return typeof text === 'string' && text.trim() !== ''
}

function refusal(what: string): EntiaError {
  return new EntiaError('invalid-argument', `subagents: ${what}.`)
}
