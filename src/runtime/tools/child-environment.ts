/** Names of variables that hold secrets. All that Entia reads as a secret are named so. */
const secretName = /KEY|TOKEN|SECRET|PASSWORD/i

/** Variables that make a shell or git run something else first. */
const runsCode = new Set(['BASH_ENV', 'ENV', 'PROMPT_COMMAND'])

/** The environment of a child process: all variables but secrets, except those named in `passEnv`. */
export function childEnvironment(env: NodeJS.ProcessEnv, passEnv: readonly string[]): NodeJS.ProcessEnv {
  return Object.fromEntries(
    Object.entries(env).filter(([name]) => passEnv.includes(name) || !(secretName.test(name) || runsCode.has(name))),
  )
}
