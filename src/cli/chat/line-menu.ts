import type { KeyName, LineEditor } from './line-editor.ts'
import type { Look } from './look.ts'
import { Menu, type MenuItem } from './menu.ts'
import { ProjectFiles } from './project-files.ts'
import { slashItems } from './slash-commands.ts'

/** Most files, or lines that were typed before, that are offered. */
const maxOffered = 200

/** What a menu offers, and whom it tells. */
export interface LineMenuOptions {
  readonly cwd: string
  /** What was typed in earlier chats, the newest first. */
  readonly history: readonly string[]
  /** Commands beside those of the program. */
  readonly commands?: (() => readonly MenuItem[]) | undefined
  /** It shows something else. */
  readonly onChange: () => void
}

/** What is offered below the line while it is typed: commands, files, and behind Ctrl-R what was typed before. */
export class LineMenu {
  readonly #editor: LineEditor
  readonly #options: LineMenuOptions
  readonly #menu = new Menu()
  /** The end of the text before the cursor that an item of the menu takes the place of. */
  #replaced = ''
  /** The user has moved the mark. */
  #hasMoved = false
  /** Where the text begins for which the user has closed the menu. */
  #dismissedAt: number | undefined
  readonly #files: ProjectFiles
  /** Tab was pressed before the files were read. */
  #awaitsFiles = false
  /** The newest first. */
  readonly #typed: string[]
  /** The line before it became a search. */
  #search: { readonly draft: string } | undefined

  constructor(editor: LineEditor, options: LineMenuOptions) {
    this.#editor = editor
    this.#options = options
    this.#typed = [...options.history]
    this.#files = new ProjectFiles(options.cwd, () => {
      const isAwaited = this.#awaitsFiles
      if (this.#search === undefined && this.#replaced.startsWith('@')) this.#offer()
      if (isAwaited && this.#menu.item !== undefined) this.#accept(this.#menu.item)
      options.onChange()
    })
  }

  get isSearching(): boolean {
    return this.#search !== undefined
  }

  /** A message that can be found from now on. */
  remember(text: string): void {
    this.#typed.unshift(text)
  }

  /** Ends a search, and offers nothing any more. */
  leave(): void {
    if (this.#search !== undefined) this.#endSearch()
    this.#menu.close()
  }

  /** @returns whether it has taken the key */
  key(name: KeyName): boolean {
    const isTaken = this.#search === undefined ? this.#menuKey(name) : this.#searchKey(name)
    if (!isTaken && name === 'ctrl-r') this.#beginSearch()
    return isTaken || name === 'ctrl-r'
  }

  /** `undefined`: nothing is offered. */
  rows(columns: number, room: number, look: Look): readonly string[] | undefined {
    if (this.#menu.isOpen) return this.#menu.rows(columns, room, look)
    return this.#search && [look.paint('dim', '  nothing that was typed has this in it')]
  }

  /** The line is another one. @param isTyped by a text, or by deleting one */
  changed(isTyped: boolean): void {
    if (this.#search !== undefined) this.#showFound(!isTyped)
    else if (isTyped || this.#menu.isOpen) this.#offer()
  }

  #offer(): void {
    this.#awaitsFiles = false
    const before = this.#editor.text.slice(0, this.#editor.cursor)
    const find = (typed: string): readonly string[] => this.#files.find(typed, maxOffered)
    const { items, replaced } = completion(before, find, this.#options.commands?.())
    const start = before.length - replaced.length
    if (replaced === '' || start !== this.#dismissedAt) this.#dismissedAt = undefined
    this.#replaced = replaced
    if (items.length === 0 || this.#dismissedAt !== undefined) return this.#menu.close()
    this.#hasMoved &&= this.#menu.isOpen
    this.#menu.show(items, this.#hasMoved)
  }

  /** Puts the marked item into the line. */
  #accept({ isWhole = false, value }: MenuItem): void {
    const text = isWhole || value.endsWith('/') ? value : `${value} `
    const count = this.#replaced.length
    this.#menu.close()
    this.#hasMoved = false
    this.#editor.replaceBefore(count, text)
    if (value.endsWith('/')) this.#offer()
    this.#options.onChange()
  }

  /** A key while there is a menu. `true`: it is taken. */
  #menuKey(name: KeyName): boolean {
    const { item } = this.#menu
    this.#awaitsFiles = item === undefined && name === 'tab' && this.#replaced.startsWith('@') && this.#files.isReading
    if (item === undefined) return false
    if (name === 'up' || name === 'down') {
      this.#hasMoved = true
      this.#menu.move(name === 'up' ? -1 : 1)
      return true
    }
    if (name === 'escape') {
      this.#dismissedAt = this.#editor.cursor - this.#replaced.length
      this.#menu.close()
      return true
    }
    if (name === 'tab') this.#accept({ ...item, isWhole: false })
    if (name !== 'return') return name === 'tab'
    // What is written out is meant as it stands.
    if (!this.#hasMoved && this.#menu.has(this.#replaced)) {
      this.#menu.close()
      return false
    }
    this.#accept(item)
    return item.isWhole !== true
  }

  /** Looks for what was typed before. */
  #beginSearch(): void {
    if (this.#search !== undefined) return this.#menu.move(1)
    this.#search = { draft: this.#editor.text }
    this.#editor.set('', { keepsHistory: false })
  }

  #showFound(keepsMark: boolean): void {
    const wanted = this.#editor.text.toLowerCase()
    const found = new Set(this.#typed.filter((line) => line.toLowerCase().includes(wanted)))
    this.#menu.show(Array.from(found, (value) => ({ value })).slice(0, maxOffered), keepsMark)
  }

  /** Ends the search; the line is what was found, or what it was before. */
  #endSearch(found?: string): void {
    const { draft = '' } = this.#search ?? {}
    this.#search = undefined
    this.#menu.close()
    if (found === undefined) this.#editor.set(draft)
    else this.#editor.propose(found)
  }

  /** `true`: the key is taken. */
  #searchKey(name: KeyName): boolean {
    if (name === 'ctrl-r' || name === 'down') this.#menu.move(1)
    else if (name === 'up') this.#menu.move(-1)
    else if (name === 'tab' || name === 'return') this.#endSearch(this.#menu.item?.value)
    else if (name === 'escape' || name === 'ctrl-c') this.#endSearch()
    else return false
    return true
  }
}

/** What may be put in place of the end of a text up to the cursor. */
interface Completion {
  readonly items: readonly MenuItem[]
  /** The end that an item takes the place of. */
  readonly replaced: string
}

/** What is offered for a text up to the cursor: slash commands at its beginning, files behind an `@`. */
function completion(
  before: string,
  files: (typed: string) => readonly string[],
  more: readonly MenuItem[] = [],
): Completion {
  if (/^\/[\w:-]*$/.test(before)) {
    const wanted = before.toLowerCase()
    const items = [...slashItems, ...more].filter(({ value }) => value.startsWith(wanted))
    return { items, replaced: before }
  }
  const [, mention, quoted, plain = ''] = /(?:^|\s)(@(?:"([^"\n]*)|([^\s"]*)))$/.exec(before) ?? []
  if (mention === undefined) return { items: [], replaced: '' }
  return { items: files(quoted ?? plain).map((path) => ({ value: mentionOf(path) })), replaced: mention }
}

/** As it stands in a message; a folder goes on, in its quotes. */
function mentionOf(path: string): string {
  if (!/\s/.test(path)) return `@${path}`
  return path.endsWith('/') ? `@"${path}` : `@"${path}"`
}
