/** Names of variables that hold secrets. All that Entia reads as a secret are named so. */
const secretName = /KEY|TOKEN|SECRET|PASSWORD/i

/** Variables that make a shell run something else first, or read a line in another way than its words say. */
const changesLines = new Set('BASH_ENV ENV PROMPT_COMMAND BASHOPTS SHELLOPTS CDPATH GLOBIGNORE OLDPWD'.split(' '))

/** The environment of a child process: all variables but secrets, except those named in `passEnv`. */
export function childEnvironment(env: NodeJS.ProcessEnv, passEnv: readonly string[]): NodeJS.ProcessEnv {
  return Object.fromEntries(
    Object.entries(env).filter(
      ([name]) => passEnv.includes(name) || !(secretName.test(name) || changesLines.has(name)),
    ),
  )
}

/** Variables that a program needs to find programs, the user's files and a place for temporary ones, and to speak the user's language. */
const bareName =
  /^(PATH|HOME|LANG|LANGUAGE|LC_\w+|TZ|TMPDIR|TEMP|TMP|SystemRoot|SystemDrive|USERPROFILE|PATHEXT|COMSPEC|APPDATA|LOCALAPPDATA)$/i

/** The environment of a process that runs code of a model: what any program needs, and variables named in `passEnv`. */
export function bareEnvironment(env: NodeJS.ProcessEnv, passEnv: readonly string[]): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([name]) => passEnv.includes(name) || bareName.test(name)))
}
