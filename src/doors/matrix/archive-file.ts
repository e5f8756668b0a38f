import { join } from 'node:path'
import { writePrivateFile } from '../../runtime/config/folders.ts'
import { cleanName } from '../../tools/files/clean-text.ts'
import type { ArchivedRoom, ArchiveSink } from './archived-turns.ts'
import { readIfThere } from './read-if-there.ts'
import { shortHash } from './room-record.ts'

const maxNameChars = 80

/**
 * Appends turns to a Markdown file for each room. Its last line says how far it goes, so that what was written before a crash
 * is not written again.
 */
export function archiveFile(folder: string): ArchiveSink {
  return async (room) => {
    const { name, roomId, turns } = room
    const plain = join(folder, `${fileName(name ?? roomId)}.md`)
    const found = await read(plain)
    // Two rooms may have one name.
    const isTaken = found !== undefined && found.roomId !== roomId
    const path = isTaken ? join(folder, `${fileName(name ?? roomId)}-${shortHash(roomId).slice(0, 8)}.md`) : plain
    const before = isTaken ? await read(path) : found
    const through = before?.key === room.key ? before.through : 0
    const added = turns.filter(({ turn }) => turn > through).map(turnText)
    const last = turns.at(-1)?.turn ?? through
    const head = before?.text ?? `# ${cleanName(name ?? roomId)}\n`
    await writePrivateFile(path, `${head}${added.join('')}${lastLine({ roomId, key: room.key, through: last })}\n`)
  }
}

function turnText({ messages, turn }: ArchivedRoom['turns'][number]): string {
  const said = messages.map(({ at, role, text }) => `**${role}**, ${new Date(at).toISOString()}:\n\n${text}\n`)
  return `\n## Turn ${turn}\n\n${said.join('\n')}`
}

interface Mark {
  readonly roomId: string
  readonly key: string
  readonly through: number
}

function lastLine(mark: Mark): string {
  return `<!-- ${JSON.stringify(mark).replaceAll('-->', '--\\u003e')} -->`
}

async function read(path: string): Promise<(Mark & { readonly text: string }) | undefined> {
  const all = await readIfThere(path)
  if (all === undefined) return undefined
  const at = all.lastIndexOf('<!-- {')
  try {
    return { ...(JSON.parse(all.slice(at + 5, all.lastIndexOf(' -->'))) as Mark), text: all.slice(0, at) }
  } catch {
    // Edited by hand: all of it is kept.
    return { roomId: '', key: '', through: 0, text: all }
  }
}

/** Letters, digits and a few signs, so that it is a name everywhere. */
function fileName(name: string): string {
  const safe = name.replaceAll(/[^\p{L}\p{N} ._-]+/gu, '-').replaceAll(/^[ .-]+|[ .-]+$/g, '')
  return Array.from(safe).slice(0, maxNameChars).join('') || 'room'
}
