import { plainText } from '../tools/files/clean-text.ts'

/** Gets what a user should know, such as what a project's configuration says and does not count. */
export type OnNotice = (notice: string) => unknown

/** Gives notices on, cleaned: parts of them are the words of others. @param onNotice absent: a line on stderr each */
export function noticesTo(onNotice: OnNotice = toStderr): (notice: string) => void {
  return (notice) => void onNotice(plainText(notice))
}

function toStderr(notice: string): void {
  process.stderr.write(`${notice}\n`)
}
