import cliTruncate from 'cli-truncate'
import type { LockOwner } from '../../stores/lock-owner.ts'
import { cleanName } from '../../tools/files/clean-text.ts'
import { asciiText, type Look } from '../chat/look.ts'
import { numberText } from '../terminal/amounts.ts'

export interface WorldsOutput {
  readonly write: (text: string) => unknown
  /** Says what is left out, beside what is written. */
  readonly report: (text: string) => unknown
  readonly isJson: boolean
  readonly look: Look
  /** How wide the terminal is. Absent: none, and no line is cut. */
  readonly columns: number | undefined
  /** Unix time. */
  readonly nowMs: number
  /** The store, as its user named it. */
  readonly where: string
}

/** Prints lines, each cut where the terminal ends. */
export function writeLines(lines: readonly string[], { columns, look, write }: WorldsOutput): void {
  const shown = columns === undefined ? lines : lines.map((line) => cliTruncate(line, Math.max(columns, 20)))
  write(`${(look.isAscii && columns !== undefined ? shown.map(asciiText) : shown).join('\n')}\n`)
}

/** `desk (process 4711 on host-1)`, with how long it has been so. */
export function ownerText({ holder, host, pid, since }: LockOwner, nowMs: number): string {
  if (pid === 0) return cleanName(holder)
  const sinceMs = Date.parse(since)
  const age = Number.isNaN(sinceMs) ? '' : ` for ${ageText(nowMs - sinceMs)}`
  return `${cleanName(holder)} (process ${pid} on ${cleanName(host)})${age}`
}

/** `12 s`, `3 min 4 s`, `5 h 12 min`, `3 d 4 h`. Clocks of machines differ, so none is below 0. */
export function ageText(ageMs: number): string {
  const seconds = Math.max(0, Math.floor(ageMs / 1_000))
  const [minutes, hours, days] = [60, 3_600, 86_400].map((unit) => Math.floor(seconds / unit)) as [
    number,
    number,
    number,
  ]
  if (minutes === 0) return `${seconds} s`
  if (hours === 0) return `${minutes} min ${seconds % 60} s`
  if (days === 0) return `${hours} h ${minutes % 60} min`
  return `${numberText(days)} d ${hours % 24} h`
}

/** `in 3 min 4 s`, or `12 s ago`. */
export function distanceText(atMs: number, nowMs: number): string {
  return atMs > nowMs ? `in ${ageText(atMs - nowMs)}` : `${ageText(nowMs - atMs)} ago`
}

/** When a world is due: `in 3 min 4 s`, `12 s ago`, or `at once`, where who left it so named no instant. */
export function dueText(wakeAtMs: number, nowMs: number): string {
  return wakeAtMs === 0 ? 'at once' : distanceText(wakeAtMs, nowMs)
}

/** `2026-11-24 02:40:11 UTC`. */
export function dateText(atMs: number): string {
  const date = new Date(atMs)
  return Number.isNaN(date.getTime()) ? 'unknown' : `${date.toISOString().slice(0, 19).replace('T', ' ')} UTC`
}

/** `812 B`, `1.2 MB`. */
export function sizeText(bytes: number): string {
  if (bytes < 1_000) return `${bytes} B`
  const units = ['kB', 'MB', 'GB', 'TB']
  let size = bytes / 1_000
  let at = 0
  while (size >= 999.95 && at < units.length - 1) {
    size /= 1_000
    at++
  }
  return `${size.toFixed(1)} ${units[at]}`
}
