import { execFile } from 'node:child_process'

/** A program that writes the picture in the clipboard to stdout. */
interface Reader {
  readonly program: string
  readonly args: readonly string[]
  /** Of its output. @default the picture itself */
  readonly read?: (output: Buffer) => Buffer
}

const timeoutMs = 5_000
const maxOutputBytes = 64 * 1024 * 1024

/** The picture in the system's clipboard, or why there is none. */
export async function clipboardPicture(
  environment: NodeJS.ProcessEnv,
  platform: NodeJS.Platform = process.platform,
): Promise<Buffer | string> {
  const readers = readersOf(platform, environment)
  let isThere = false
  for (const reader of readers) {
    const found = await outputOf(reader, environment)
    if (found === undefined) continue
    isThere = true
    const picture = found.length === 0 ? found : (reader.read?.(found) ?? found)
    if (picture.length > 0) return picture
  }
  if (isThere) return 'There is no picture in the clipboard.'
  const names = [...new Set(readers.map(({ program }) => program))].join(' or ')
  return `The clipboard cannot be read: install ${names}. Or paste the path of a picture, or write @ and its path.`
}

function readersOf(platform: NodeJS.Platform, environment: NodeJS.ProcessEnv): readonly Reader[] {
  if (platform === 'darwin') {
    const script = { program: 'osascript', args: ['-e', 'the clipboard as «class PNGf»'], read: fromAppleData }
    return [{ program: 'pngpaste', args: ['-'] }, script]
  }
  if (platform === 'win32') return [powershell('powershell')]
  const wayland = { program: 'wl-paste', args: ['--no-newline', '--type', 'image/png'] }
  const x11 = { program: 'xclip', args: ['-selection', 'clipboard', '-target', 'image/png', '-out'] }
  const both = (environment['WAYLAND_DISPLAY'] ?? '') === '' ? [x11, wayland] : [wayland, x11]
  return (environment['WSL_DISTRO_NAME'] ?? '') === '' ? both : [...both, powershell('powershell.exe')]
}

const savedAsPng = `Add-Type -AssemblyName System.Windows.Forms, System.Drawing
$picture = [System.Windows.Forms.Clipboard]::GetImage()
if ($null -eq $picture) { exit 3 }
$stream = New-Object System.IO.MemoryStream
$picture.Save($stream, [System.Drawing.Imaging.ImageFormat]::Png)
[Convert]::ToBase64String($stream.ToArray())`

function powershell(program: string): Reader {
  const args = ['-NoProfile', '-NonInteractive', '-STA', '-Command', savedAsPng]
  return { program, args, read: (output) => Buffer.from(output.toString('latin1').trim(), 'base64') }
}

/** `«data PNGf89504E47…»` */
function fromAppleData(output: Buffer): Buffer {
  return Buffer.from(/PNGf([0-9A-F]+)/.exec(output.toString('utf8'))?.[1] ?? '', 'hex')
}

/** `undefined`: there is no such program. Empty: it has no picture. */
async function outputOf({ args, program }: Reader, env: NodeJS.ProcessEnv): Promise<Buffer | undefined> {
  return new Promise((resolve) => {
    const options = {
      encoding: 'buffer',
      env,
      maxBuffer: maxOutputBytes,
      timeout: timeoutMs,
      windowsHide: true,
    } as const
    const child = execFile(program, args, options, (error, stdout) => {
      if (error === null) resolve(stdout)
      else resolve(error.code === 'ENOENT' ? undefined : Buffer.alloc(0))
    })
    child.stdin?.end()
  })
}
