/** A program to run. */
export interface Program {
  readonly file: string
  readonly args: readonly string[]
  readonly cwd: string
  readonly env: NodeJS.ProcessEnv
}

/** What a program in a sandbox may reach besides what all may. */
export interface Reach {
  /** Domains, `*.` in front of one for those below it. @default those of the configuration */
  readonly allowedDomains?: readonly string[] | undefined
  /** Absolute paths. @default none */
  readonly writePaths?: readonly string[] | undefined
}

/** A program that runs in a sandbox once it is started: a command line of the system, for one start. */
export interface ConfinedProgram extends Program {
  /** The mark of the processes in it (`ENTIA_PROCESS`). */
  readonly mark: string
  /** What it may do, in a sentence. */
  readonly rules: string
  /** To be called once it has ended, or was not started after all. */
  readonly release: () => Promise<void>
  /**
   * A line for a model that says what the sandbox stopped, where what was printed shows that it did.
   *
   * @param printed what it printed @param hasFailed it ended with an error
   */
  readonly stopped: (printed: string, hasFailed: boolean) => Promise<string | undefined>
}

/** Runs programs within limits that the operating system keeps. */
export interface Sandbox {
  /** What programs in it may do, in a sentence for a model; `undefined`: there is none, as far as that is known. */
  readonly rules: string | undefined
  /**
   * Puts a program into the sandbox. `undefined`: there is none, and none is required, so the program runs as it is.
   *
   * @throws `NotConfined` where a sandbox is required and there is none, and where this program cannot be put into it
   */
  confined(program: Program, reach?: Reach): Promise<ConfinedProgram | undefined>
}

/** Why a program is not started; a model or a user reads it. */
export class NotConfined extends Error {
  override readonly name = 'NotConfined'
}
