import { interpreters } from './shell-programs.ts'

const decoders =
  /^(?:base64|base32|basenc|xxd|od|openssl|uudecode|gunzip|zcat|gzip|bunzip2|bzip2|bzcat|xz|unxz|xzcat|zstd|lz4|rev|tr|printf)$/
/** Those that decode, and do nothing else that a body does every day. */
const onlyDecoders = /^(?:base64|base32|basenc|xxd|openssl|uudecode|rev)$/

/** Are there an interpreter and a decoder among the names of commands that stand in each other? */
export function runsDecoded(names: readonly string[]): boolean {
  return names.some((name) => interpreters.test(name)) && names.some((name) => decoders.test(name))
}

/** Does a part of a pipe take as a program, or as names, what commands before it decode? @param text of the whole pipe */
export function takesDecoded(before: readonly string[], names: readonly string[], text: string): boolean {
  const isFed = names.some((name) => interpreters.test(name))
  const isEchoed = before.includes('echo') && /echo\s+-\w*e/.test(text)
  const isDecoded = [...before, ...names].some((name) => onlyDecoders.test(name))
  return (isFed && (isEchoed || before.some((name) => decoders.test(name)))) || (isDecoded && names.includes('xargs'))
}
