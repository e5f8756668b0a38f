import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { EntiaError } from '../index.ts'
import { folders } from '../runtime/config/folders.ts'
import { configPaths, readRuntimeConfig } from '../runtime/config/read-runtime-config.ts'
import { chooseProvider } from '../runtime/models/choose-provider.ts'
import { keyOf } from '../runtime/models/known-providers.ts'
import { didYouMean } from '../base/near-names.ts'
import { parsedWords, UsageError } from './parsed-words.ts'

const configHelp = `Check the configuration, or show where it lies.

  entia config check       read the files, and show what is wrong or ignored
  entia config path        show where files and folders are

  --cwd FOLDER        the project (default: this folder)
  --json              print one JSON object
  --help              show this help

config.json of the project's folder .entia counts over config.json of your
configuration folder (ENTIA_CONFIG_DIR, or the system's default).
Exit codes: 0 the configuration can be used, 2 it cannot, or wrong arguments.
`

export interface ConfigPlace {
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly cwd: string
  readonly stdout: { write(text: string): unknown }
  readonly stderr: { write(text: string): unknown }
}

const verbs = ['check', 'path'] as const

/** `entia config`: returns the exit code. @throws UsageError, `config-invalid` */
export async function configCommand(words: readonly string[], place: ConfigPlace): Promise<number> {
  const { values, positionals } = parsedWords(words, {
    cwd: { type: 'string' },
    json: { type: 'boolean' },
    help: { type: 'boolean', short: 'h' },
  })
  if (values.help === true) {
    place.stdout.write(configHelp)
    return 0
  }
  const [given, ...rest] = positionals
  if (given === undefined) throw new UsageError('entia config needs a command: check or path.')
  const verb = verbs.find((each) => each === given)
  if (verb === undefined)
    throw new UsageError(`There is no command 'entia config ${given}'.${didYouMean(given, verbs)}`)
  if (rest.length > 0) throw new UsageError(`entia config ${verb} takes no more words, got ${rest.join(' ')}.`)
  const cwd = resolve(place.cwd, values.cwd ?? '.')
  const isJson = values.json === true
  return verb === 'path' ? path(isJson, { ...place, cwd }) : check(isJson, { ...place, cwd })
}

function path(isJson: boolean, { cwd, environment, stdout }: ConfigPlace): number {
  const all = folders(environment, cwd)
  const files = Object.values(configPaths({ cwd, folders: all })).map((file) => ({
    path: file,
    exists: existsSync(file),
  }))
  if (isJson) stdout.write(`${JSON.stringify({ files, folders: all })}\n`)
  else {
    const fileLines = files.map((file) => `${file.path}${file.exists ? '' : '  (not there)'}`)
    const folderLines = Object.entries(all).map(([name, folder]) => `${name.padEnd(8)}${folder}`)
    stdout.write(`${[...fileLines, '', ...folderLines].join('\n')}\n`)
  }
  return 0
}

async function check(isJson: boolean, place: ConfigPlace): Promise<number> {
  const { cwd, environment, stdout, stderr } = place
  try {
    const { config, sources, notices } = await readRuntimeConfig({ cwd, folders: folders(environment, cwd) })
    const chosen = chooseProvider({ config, env: environment, validateApiKey: false })
    const { provider, model, keyVariable } = chosen
    const isKeySet = keyVariable === undefined || keyOf(environment, keyVariable) !== undefined
    if (isJson) {
      stdout.write(`${JSON.stringify({ isValid: true, sources, notices, provider, model, isKeySet, config })}\n`)
      return 0
    }
    for (const notice of notices) stderr.write(`entia: ${notice}\n`)
    const key = isKeySet ? '' : `  (${keyVariable} is not set)`
    const read = sources.length === 0 ? ['There is no configuration file; defaults hold.'] : sources
    stdout.write(`${[...read, `Model: ${provider}/${model}${key}`, 'The configuration can be used.'].join('\n')}\n`)
    return 0
  } catch (error) {
    if (!isJson || !(error instanceof EntiaError)) throw error
    const { code, message, details } = error
    stdout.write(`${JSON.stringify({ isValid: false, code, message, problems: details['problems'] ?? [] })}\n`)
    return 2
  }
}
