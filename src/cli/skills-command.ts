import { join, resolve } from 'node:path'
import { EntiaError } from '../index.ts'
import { folders } from '../runtime/config/folders.ts'
import { readRuntimeConfig } from '../runtime/config/read-runtime-config.ts'
import { installSkill, type ListedSkill, listSkills, removeSkill, testSkill } from '../runtime/index.ts'
import { skillFolder } from '../runtime/skills/list-skills.ts'
import { allSkills } from '../runtime/skills/session-extensions.ts'
import { plainText } from '../tools/files/clean-text.ts'
import { didYouMean } from '../base/near-names.ts'
import { lookOf } from './chat/look.ts'
import type { Interruption } from './interruption.ts'
import { parsedWords, UsageError } from './parsed-words.ts'
import { skillLines } from './skill-lines.ts'

const skillsHelp = `Manage skills: folders with instructions that an agent reads when a task needs
them.

  entia skills list                list those of this folder and your own
  entia skills install SOURCE      copy one from a folder or a git repository
  entia skills remove NAME...      remove installed ones
  entia skills test NAME|FOLDER    run a skill's tests (*.test.js, *.test.mjs)

SOURCE is a folder, or a git URL with https, ssh or file. Behind a # stands a
branch, tag or commit, and behind a : the skill's folder in the repository:
https://example.org/skills.git#v2:pdf

  --project           in .agents/skills of this folder, not in your own skills
  --dir FOLDER        in another folder
  --force             install: replace a skill of the same name
  --verbose           test: show each test and what it prints, on stderr
  --cwd FOLDER        the project (default: this folder)
  --json              print JSON: one object, or one a line for list
  --help              show this help

Exit codes: 0 done, 1 failed, 2 wrong arguments or configuration.
`

export interface SkillsPlace {
  readonly environment: NodeJS.ProcessEnv
  readonly cwd: string
  readonly stdout: NodeJS.WritableStream & {
    readonly columns?: number | undefined
    readonly isTTY?: boolean | undefined
  }
  readonly interruption: () => Interruption
}

interface Asked {
  readonly place: SkillsPlace
  readonly cwd: string
  readonly env: NodeJS.ProcessEnv
  /** Where skills are installed. Absent: in the user's folder. */
  readonly targetDir: string | undefined
  readonly isJson: boolean
  readonly isForced: boolean
  readonly isVerbose: boolean
}

const verbs = ['list', 'install', 'remove', 'test'] as const

/** `entia skills`: returns the exit code. @throws UsageError, and what the functions of skills throw */
export async function skillsCommand(words: readonly string[], place: SkillsPlace): Promise<number> {
  const { values, positionals } = parsedWords(words, {
    project: { type: 'boolean' },
    dir: { type: 'string' },
    force: { type: 'boolean' },
    cwd: { type: 'string' },
    json: { type: 'boolean' },
    verbose: { type: 'boolean' },
    help: { type: 'boolean', short: 'h' },
  })
  if (values.help === true) {
    place.stdout.write(skillsHelp)
    return 0
  }
  const [given = 'list', ...names] = positionals
  const verb = verbs.find((each) => each === given)
  if (verb === undefined)
    throw new UsageError(`There is no command 'entia skills ${given}'.${didYouMean(given, verbs)}`)
  if (values.project === true && values.dir !== undefined) throw new UsageError('Give --project or --dir, not both.')
  for (const name of ['dir', 'cwd'] as const) {
    if (values[name]?.trim() === '') throw new UsageError(`--${name} must not be empty.`)
  }
  if (values.verbose === true && verb !== 'test') throw new UsageError('--verbose is for entia skills test.')
  if (values.force === true && verb !== 'install') throw new UsageError('--force is for entia skills install.')
  const cwd = resolve(place.cwd, values.cwd ?? '.')
  const asked: Asked = {
    place,
    cwd,
    env: { ...place.environment },
    targetDir: values.project === true ? join(cwd, '.agents', 'skills') : values.dir,
    isJson: values.json === true,
    isForced: values.force === true,
    isVerbose: values.verbose === true,
  }
  if (verb === 'list') {
    if (names.length > 0) throw new UsageError(`entia skills list takes no more words, got ${names.join(' ')}.`)
    return list(asked)
  }
  const [first] = names
  const needed = { install: 'a folder or a git URL', remove: 'a name', test: 'a name or a folder' }[verb]
  if (first === undefined) throw new UsageError(`entia skills ${verb} needs ${needed}.`)
  if (verb !== 'remove' && names.length > 1)
    throw new UsageError(`entia skills ${verb} takes one, got ${names.join(' ')}.`)
  if (verb === 'remove') return remove(names, asked)
  return verb === 'install' ? install(first, asked) : test(first, asked)
}

async function listed({ cwd, env, targetDir }: Asked): Promise<readonly ListedSkill[]> {
  if (targetDir !== undefined) return listSkills(targetDir, { cwd, env })
  const place = { cwd, folders: folders(env, cwd), home: skillFolder('~', { env }) }
  const { config } = await readRuntimeConfig(place)
  return allSkills(config, { ...place, env })
}

async function list(asked: Asked): Promise<number> {
  const { isJson, place } = asked
  const { environment, stdout } = place
  const skills = await listed(asked)
  if (isJson) for (const skill of skills) stdout.write(`${JSON.stringify(skill)}\n`)
  else if (skills.length === 0) stdout.write('There is no skill here. Install one: entia skills install SOURCE\n')
  else {
    const columns = stdout.isTTY === true ? (stdout.columns ?? 80) : undefined
    stdout.write(`${skillLines(skills, { columns, look: lookOf(stdout, environment) }).join('\n')}\n`)
  }
  return 0
}

async function install(source: string, { cwd, env, isForced, isJson, place, targetDir }: Asked): Promise<number> {
  const { exitCode, signal } = place.interruption()
  const target = targetDir === undefined ? {} : { targetDir }
  try {
    const name = await installSkill(source, { cwd, env, force: isForced, signal, ...target })
    const path = join(
      targetDir === undefined ? join(folders(env, cwd).data, 'skills') : skillFolder(targetDir, { cwd, env }),
      name,
    )
    place.stdout.write(isJson ? `${JSON.stringify({ name, path })}\n` : `Installed ${name} in ${plainText(path)}\n`)
    return 0
  } catch (error) {
    if (signal.aborted) return exitCode()
    if (error instanceof EntiaError && error.code === 'skill-exists')
      throw new EntiaError(
        'skill-exists',
        error.message.replace('Install it with force: true', 'Use --force'),
        error.details,
      )
    throw error
  }
}

async function remove(names: readonly string[], { cwd, env, isJson, place, targetDir }: Asked): Promise<number> {
  for (const name of names) {
    try {
      await removeSkill(name, { cwd, env, ...(targetDir !== undefined && { targetDir }) })
    } catch (error) {
      if (!(error instanceof EntiaError) || error.code !== 'skill-not-found') throw error
      throw new EntiaError(
        error.code,
        error.message.replace('listSkills() has', 'entia skills list shows'),
        error.details,
      )
    }
    place.stdout.write(isJson ? `${JSON.stringify({ name, removed: true })}\n` : `Removed ${plainText(name)}\n`)
  }
  return 0
}

async function test(given: string, asked: Asked): Promise<number> {
  const { cwd, env, isJson, place } = asked
  const named = (await listed(asked)).findLast(({ name, overriddenBy }) => name === given && overriddenBy === undefined)
  const isPath = /[\\/]|^[.~]/.test(given)
  const folder = named === undefined || isPath ? skillFolder(given, { cwd, env }) : named.path
  const { exitCode, signal } = place.interruption()
  try {
    const { errors, failed, passed } = await testSkill(folder, { env, signal, verbose: asked.isVerbose })
    const isGood = failed === 0 && errors === 0
    const hint = isGood ? '' : ` To see why, run node --test in ${plainText(folder)}`
    const text =
      passed + failed + errors === 0
        ? `${given} has no tests.`
        : `${passed} passed, ${failed} failed, ${errors} errors.${hint}`
    place.stdout.write(
      isJson ? `${JSON.stringify({ path: folder, passed, failed, errors })}\n` : `${plainText(text)}\n`,
    )
    return isGood ? 0 : 1
  } catch (error) {
    if (signal.aborted) return exitCode()
    throw error
  }
}
