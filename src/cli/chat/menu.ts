import cliTruncate from 'cli-truncate'
import stringWidth from 'string-width'
import type { Look } from './look.ts'

/** Something to choose. */
export interface MenuItem {
  /** What is put into the line. */
  readonly value: string
  /** What is shown where there is room. @default the value */
  readonly label?: string | undefined
  readonly help?: string | undefined
  /** Chosen by Enter, the line is whole and is sent. */
  readonly isWhole?: boolean | undefined
}

const maxRows = 8
const minColumnsForLabels = 100
const indent = 2

/** A list below the line, in which one item is marked. */
export class Menu {
  #items: readonly MenuItem[] = []
  #at = 0
  #first = 0

  get isOpen(): boolean {
    return this.#items.length > 0
  }

  /** The marked item. */
  get item(): MenuItem | undefined {
    return this.#items[this.#at]
  }

  /** Is it one of the items, or a folder that is? */
  has(value: string): boolean {
    return this.#items.some((item) => item.value === value || item.value === `${value}/`)
  }

  /** The mark stays on the item that it was on, if the user has moved it there; else the first is marked. */
  show(items: readonly MenuItem[], keepsMark = false): void {
    const marked = keepsMark ? this.item?.value : undefined
    this.#items = items
    this.#at = Math.max(
      0,
      items.findIndex(({ value }) => value === marked),
    )
    this.#first = 0
  }

  close(): void {
    this.#items = []
    this.#at = 0
  }

  /** Marks the next or the previous item, and the first behind the last. */
  move(by: 1 | -1): void {
    const { length } = this.#items
    if (length > 0) this.#at = (this.#at + by + length) % length
  }

  /** @param room the most rows; where there is one, it is the marked item */
  rows(columns: number, room: number, { isAscii, paint }: Look): readonly string[] {
    const { length } = this.#items
    const most = mostShown(length, room)
    this.#first = Math.min(Math.max(this.#first, this.#at - most + 1), this.#at, length - most)
    const shown = this.#items.slice(this.#first, this.#first + most)
    const labels = shown.map(({ label, value }) =>
      (columns < minColumnsForLabels ? value : (label ?? value)).replaceAll(/\s*\n\s*/g, isAscii ? ' / ' : ' ⏎ '),
    )
    const widest = Math.min(Math.max(...labels.map((label) => stringWidth(label))), Math.floor(columns * 0.6))
    const rows = shown.map(({ help }, index) => {
      const isMarked = this.#first + index === this.#at
      const label = cliTruncate(labels[index] ?? '', help === undefined ? Math.max(1, columns - indent) : widest)
      const gap = ' '.repeat(Math.max(0, widest - stringWidth(label)) + 2)
      const mark = isMarked ? (isAscii ? '> ' : '› ') : '  '
      const name = isMarked ? paint(['bold', 'cyan'], mark + label) : mark + label
      return help === undefined ? name : name + gap + paint('dim', help)
    })
    const left = length - this.#first - most
    return left > 0 && most < room ? [...rows, paint('dim', `  ${isAscii ? '...' : '…'} ${left} more`)] : rows
  }
}

/** Items that are shown of so many; of those that are left a row says how many they are. */
function mostShown(length: number, room: number): number {
  const most = Math.min(maxRows, length, room)
  return most < length && most === room ? Math.max(1, most - 1) : most
}
