import { collapsed } from '../../base/one-line.ts'
import { createInterface } from 'node:readline'
import { cleanText } from '../../tools/files/clean-text.ts'
import type { StoredSession } from '../../runtime/chat/session-folder.ts'
import { ChatScreen, type ScreenOutput } from './chat-screen.ts'
import { type KeyInput, type KeyName, LineEditor } from './line-editor.ts'
import { asciiText, type Look } from './look.ts'
import { Menu, type MenuItem } from './menu.ts'

/** A terminal to choose on. */
export interface ChoicePlace {
  readonly input: KeyInput
  readonly out: ScreenOutput
  readonly look: Look
}

/** Chats that are listed at once where the terminal cannot move its cursor. */
const maxListed = 20

/** Lets the user choose a stored chat. Typed words leave only chats that have them. Gives its key; `undefined`: none. */
export async function chooseChat(sessions: readonly StoredSession[], place: ChoicePlace): Promise<string | undefined> {
  const items = sessions.map(itemOf)
  return place.look.isDumb === true ? chosenByNumber(items, place) : chosenByMark(items, place)
}

/** Lists chats with numbers, and reads lines: a number, words that narrow the list, or nothing. */
async function chosenByNumber(
  items: readonly MenuItem[],
  { input, look, out }: ChoicePlace,
): Promise<string | undefined> {
  const say = (text: string): void => void out.write(look.isAscii ? asciiText(text) : text)
  let offered: readonly MenuItem[] = []
  const list = (some: readonly MenuItem[]): void => {
    offered = some
    const rows = some.slice(0, maxListed).map(({ help = '' }, index) => `${`${index + 1}`.padStart(3)}  ${help}\n`)
    const left = some.length - rows.length
    say(
      `Which chat?\n${rows.join('')}${left > 0 ? `     … ${left} more\n` : ''}A number, words that it has, or Enter for none: `,
    )
  }
  list(items)
  const lines = createInterface({ input, terminal: false })
  try {
    for await (const line of lines) {
      const typed = line.trim()
      if (typed === '') return undefined
      const chosen = offered[Number(typed) - 1]
      if (chosen !== undefined) return chosen.value
      const fit = /^\d+$/.test(typed) ? [] : fitting(items, typed)
      if (fit.length === 0) say(`No chat of the list is '${cleanText(typed)}'.\n`)
      list(fit.length === 0 ? items : fit)
    }
    return undefined
  } finally {
    lines.close()
  }
}

/** Draws the chats below a line, one of them marked. */
async function chosenByMark(
  items: readonly MenuItem[],
  { input, look, out }: ChoicePlace,
): Promise<string | undefined> {
  const menu = new Menu()
  const { promise, resolve } = Promise.withResolvers<string | undefined>()
  const screen = new ChatScreen(out, look, (columns, rowsBelow) => ({
    above: [{ text: look.paint('bold', 'Which chat?') }, { text: look.paint('dim', hint) }],
    input: { prompt: look.paint(['bold', 'cyan'], '› '), text: editor.text, cursor: editor.cursor },
    below: menu.isOpen ? menu.rows(columns, rowsBelow, look) : [look.paint('dim', '  no chat has this in it')],
  }))
  const key = (name: KeyName): boolean => {
    if (name === 'up' || name === 'down') menu.move(name === 'up' ? -1 : 1)
    else if (name === 'return') {
      if (menu.item !== undefined) resolve(menu.item.value)
    } else if (name === 'escape' || name === 'ctrl-c' || name === 'ctrl-d') resolve(undefined)
    screen.update()
    return true
  }
  const editor = new LineEditor(input, out, {
    history: [],
    onChange: (isTyped) => {
      menu.show(fitting(items, editor.text), !isTyped)
      screen.update()
    },
    onSubmit: () => undefined,
    onKey: key,
  })
  menu.show(items)
  screen.draw()
  try {
    return await promise
  } finally {
    screen.close()
    editor.close()
  }
}

const hint = 'Arrow keys choose, Enter opens it, words narrow the list, Esc leaves.'

function itemOf({ firstMessage = '', key, lastUsedAt }: StoredSession): MenuItem {
  const said = collapsed(cleanText(firstMessage))
  const at = new Date(lastUsedAt).toISOString().slice(0, 16).replace('T', ' ')
  return { value: key, help: `${at}  ${said}` }
}

function fitting(items: readonly MenuItem[], typed: string): readonly MenuItem[] {
  const words = typed
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '')
  return items.filter(({ help = '', value }) => {
    const text = `${value} ${help}`.toLowerCase()
    return words.every((word) => text.includes(word))
  })
}
