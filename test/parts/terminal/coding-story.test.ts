import { execFileSync } from 'node:child_process'
import { readFile, rm, watch, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { startAnthropicServer } from '../../servers/anthropic-server.ts'
import { tempFolder } from '../../tools/temp-folder.ts'
import { ChatTerminal } from './chat-terminal.ts'
import { coder, resultsIn, slugProject } from './coder.ts'

/** Resolves once the tests wait for the file. */
async function isWaiting(path: string): Promise<void> {
  for await (const _ of watch(path)) if ((await readFile(path, 'utf8')) === 'waiting') return
}

describe('an agent that mends a failing test', () => {
  it('is killed while it waits for a yes and while it runs the tests, and ends with the one change that was asked for', async () => {
    const server = await startAnthropicServer(coder)
    onTestFinished(() => server.close())
    const project = await tempFolder(slugProject)
    const git = (...args: readonly string[]): string => execFileSync('git', args, { cwd: project, encoding: 'utf8' })
    git('init', '--quiet')
    git('add', '.')
    git('-c', 'user.name=t', '-c', 'user.email=t@example.com', 'commit', '--quiet', '--message', 'slugs')
    const at = {
      in: project,
      env: {
        ANTHROPIC_BASE_URL: server.url,
        ANTHROPIC_API_KEY: 'key',
        NO_PROXY: '*',
        ENTIA_CONFIG_DIR: `${project}-home/config`,
        ENTIA_DATA_DIR: `${project}-home/data`,
        ENTIA_CACHE_DIR: `${project}-home/cache`,
      },
    }

    const first = new ChatTerminal([], at)
    await first.until(/^›$/m)
    first.type('A test fails. Mend it.\r')
    await first.until(/bash asks[^]*node --test[^]*\n\?$/)
    first.type('a\r')
    await first.until(/replace_in_file asks[^]*\+.*replaceAll[^]*\n\?$/)
    expect(git('diff')).toBe('')
    first.kill()
    await first.ended

    const second = new ChatTerminal(['--resume'], at)
    await second.until(/replace_in_file asks[^]*\n\?$/)
    // The tests will not end by themselves.
    await writeFile(join(project, 'busy'), '')
    second.type('y\r')
    await isWaiting(join(project, 'busy'))
    second.kill()
    await second.ended
    await rm(join(project, 'busy'))

    const third = new ChatTerminal(['--resume'], at)
    await third.until(/All tests pass now\.[^]*\n\n›$/)
    third.type('\u0004')
    await third.ended
    expect(git('diff', '--unified=0').split('\n').slice(-4)).toEqual([
      '@@ -3 +3 @@ export function slug(title) {',
      "-  return title.toLowerCase().replaceAll(' ', '-')",
      "+  return title.toLowerCase().replaceAll(/ +/g, '-')",
      '',
    ])
    expect(git('status', '--short')).toBe(' M slug.js\n')

    // The run of the tests that was cut off is answered, once, by what is known of it; then the tests ran again.
    const results = resultsIn(server.requests.at(-1)?.body['messages'])
    expect(results).toHaveLength(5)
    expect(results.filter((text) => /may have/.test(text))).toEqual([results[3]])
    expect(results[4]).toMatch(/fail 0/)
  })
})
