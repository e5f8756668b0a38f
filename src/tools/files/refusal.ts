import { cutText } from '../../base/cut-text.ts'
import type { ToolOutput } from '../port.ts'
import { errorOutput } from '../tool-output.ts'
import { cleanName } from './clean-text.ts'

/** In messages, in characters. */
const maxPathChars = 300

/** A refusal of a file tool, in words for a model. */
export class Refusal extends Error {
  override readonly name = 'Refusal'

  /** `what` follows the path: `is outside the folder.` */
  static of(path: string, what: string): Refusal {
    return new Refusal(`${cutText(cleanName(path), maxPathChars)} ${what}`)
  }
}

/** Turns refusals and errors of the file system into an error output. */
export async function refusable(
  path: string,
  work: () => Promise<string | ToolOutput>,
  verb: 'read' | 'written' = 'read',
): Promise<string | ToolOutput> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof Refusal) return errorOutput(error.message)
    if (isFileSystemError(error)) return errorOutput(Refusal.of(path, fileProblem(error, verb)).message)
    throw error
  }
}

/** Is it an error of the file system, not a defect or an abort? */
export function isFileSystemError(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && 'syscall' in error && 'code' in error
}

function fileProblem({ code }: NodeJS.ErrnoException, verb: string): string {
  if (code === 'ENOENT' || code === 'ENOTDIR' || code === 'ENAMETOOLONG') return 'does not exist.'
  if (code === 'ELOOP') return 'is a link that leads back to itself.'
  if (code === 'EACCES' || code === 'EPERM') return `cannot be ${verb}: permission denied.`
  return `cannot be ${verb}: ${code ?? 'unknown error'}.`
}
