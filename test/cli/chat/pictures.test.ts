import { chmod, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { describe, expect, it } from 'vitest'
import { clipboardPicture } from '../../../src/cli/chat/clipboard-picture.ts'
import { maxPictureBytes, Pictures } from '../../../src/cli/chat/pictures.ts'
import { userMessage } from '../../../src/cli/chat/user-message.ts'
import { tempFolder } from '../../tools/temp-folder.ts'

const base64 = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
const png = Buffer.from(base64, 'base64')

async function pictures(files: Readonly<Record<string, Buffer | string>> = {}) {
  const folder = await tempFolder()
  for (const [name, content] of Object.entries(files)) await writeFile(join(folder, name), content)
  const told: string[] = []
  return { folder, told, pictures: new Pictures(folder, (text) => told.push(text)) }
}

describe('a paste in a chat', () => {
  it('of a path is the picture, quoted, with escaped blanks, as a URL, relative, and several at once', async () => {
    const made = await pictures({ 'a b.png': png, 'c.png': png })
    const [one, two] = [join(made.folder, 'a b.png'), join(made.folder, 'c.png')]
    for (const text of [
      `'${one}' '${two}'`,
      `"${one}" ${two} `,
      `${one.replaceAll(' ', '\\ ')} ${two}\n`,
      `${one}\n${two}`,
      `${pathToFileURL(one).href}\n${pathToFileURL(two).href}`,
      `'a b.png' ./c.png`,
    ]) {
      expect(made.pictures.pasted(text)?.replaceAll(/\d+:/g, 'N:')).toBe(
        '[image N: a b.png, 70 bytes] [image N: c.png, 70 bytes]',
      )
    }
    expect(made.told).toEqual([])
  })

  it.each([
    'See a.png for it.',
    'missing.png',
    'notes.md',
    "it's",
    'a.png missing.png',
    '',
    '[image 1: a.png, 70 bytes]',
  ])('of %j stays a text', async (text) => {
    const made = await pictures({ 'a.png': png, 'notes.md': 'Bees' })
    expect(made.pictures.pasted(text)).toBeUndefined()
    expect(made.pictures.of(text)).toEqual([])
  })

  it('of a data URL is the picture, with the text around it', async () => {
    const made = await pictures()
    const text = made.pictures.pasted(`Look: data:image/png;base64,${base64} here`) ?? ''
    expect(text).toBe('Look: [image 1: pasted, 70 bytes] here')
    const { message } = await userMessage(text, made.folder, text, made.pictures.of(text))
    expect(message.content).toEqual([
      { type: 'text', text },
      { type: 'file', mediaType: 'image/png', data: base64, name: 'pasted' },
    ])
  })

  it('of what is no picture or too large is told, and leaves nothing in the line', async () => {
    const large = Buffer.concat([png, Buffer.alloc(maxPictureBytes)])
    const made = await pictures({ 'text.png': 'Bees', 'large.png': large, 'a.png': png })
    expect(made.pictures.pasted('text.png')).toBe('')
    expect(made.pictures.pasted('large.png a.png')).toBe('[image 1: a.png, 70 bytes]')
    expect(made.pictures.pasted('data:image/png;base64,QmVlcw==')).toBe('')
    expect(made.told).toEqual([
      'text.png is no PNG, JPEG, GIF or WebP picture, and is not added.',
      'large.png has 3.75 MB; a picture may have 3.75 MB, and it is not added.',
      'pasted is no PNG, JPEG, GIF or WebP picture, and is not added.',
    ])
  })

  it('is sent only while its note stands in the line, and once', async () => {
    const made = await pictures({ 'a.png': png, 'b.png': png })
    const text = made.pictures.pasted('a.png b.png') ?? ''
    const [first = ''] = text.split('] ')
    expect(made.pictures.of(`${first}] and again ${first}]`).map(({ name }) => name)).toEqual(['a.png'])
  })

  it('is there again when its message goes back into the line of a later chat', async () => {
    const made = await pictures({ 'a.png': png })
    const text = made.pictures.pasted('a.png') ?? ''
    const { message } = await userMessage(text, made.folder, text, made.pictures.of(text))
    const later = await pictures()
    later.pictures.restore(message, text)
    expect(later.pictures.of(text)).toEqual(made.pictures.of(text))
  })

  it('names a picture by its content, with @ too', async () => {
    const made = await pictures({ 'text.png': 'Bees', 'jpeg.png': Buffer.from([0xff, 0xd8, 0xff, 0xe0]) })
    const { message, notes } = await userMessage('See @text.png and @jpeg.png', made.folder)
    expect(notes).toEqual(['@text.png is no PNG, JPEG, GIF or WebP picture, and is not added.'])
    expect(message.content[1]).toMatchObject({ mediaType: 'image/jpeg' })
  })
})

/** A folder of programs, each a shell script. */
async function programs(scripts: Readonly<Record<string, string>>): Promise<string> {
  const folder = await tempFolder()
  await writeFile(join(folder, 'a.png'), png)
  for (const [name, script] of Object.entries(scripts)) {
    await writeFile(join(folder, name), `#!/bin/sh\ncd '${folder}'\n${script}\n`)
    await chmod(join(folder, name), 0o755)
  }
  return folder
}

describe.skipIf(process.platform === 'win32')('the picture in the clipboard', () => {
  it.each<[NodeJS.Platform, string, string, NodeJS.ProcessEnv]>([
    ['linux', 'xclip', 'test "$4" = image/png && /bin/cat a.png', {}],
    ['linux', 'wl-paste', 'test "$3" = image/png && /bin/cat a.png', { WAYLAND_DISPLAY: 'wayland-0' }],
    ['linux', 'wl-paste', '/bin/cat a.png', {}],
    ['darwin', 'pngpaste', 'test "$1" = - && /bin/cat a.png', {}],
    ['darwin', 'osascript', `echo '«data PNGf${png.toString('hex').toUpperCase()}»'`, {}],
    ['win32', 'powershell', `echo ${base64}`, {}],
    ['linux', 'powershell.exe', `echo ${base64}`, { WSL_DISTRO_NAME: 'Ubuntu' }],
  ])('is read on %s by %s', async (platform, name, script, environment) => {
    const PATH = await programs({ [name]: script })
    expect(await clipboardPicture({ ...environment, PATH }, platform)).toEqual(png)
  })

  it('is none where the clipboard has a text', async () => {
    const PATH = await programs({ xclip: 'echo "Error: target image/png not available" >&2; exit 1' })
    expect(await clipboardPicture({ PATH }, 'linux')).toBe('There is no picture in the clipboard.')
  })

  it('cannot be read without a program for it, which is said with what helps', async () => {
    const PATH = await programs({})
    expect(await clipboardPicture({ PATH }, 'linux')).toBe(
      'The clipboard cannot be read: install xclip or wl-paste. Or paste the path of a picture, or write @ and its path.',
    )
  })
})
