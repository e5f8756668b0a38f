import { describe, expect, it } from 'vitest'
import { type Seen, stoppedIn } from '../../../src/runtime/sandbox/stopped-note.ts'

function stopped(printed: string, more: Partial<Seen> = {}): string | undefined {
  const hidden = ['/home/u/.ssh', '/srv/customers']
  return stoppedIn({ command: '', printed, hasFailed: true, deniedHosts: [], hidden, home: '/home/u', ...more })
}

describe('what the sandbox has stopped', () => {
  it.for([
    [
      'bash: line 1: /etc/x: Read-only file system',
      'it stopped a write outside of its folders or to what is guarded in them',
    ],
    ["Error: EROFS: read-only file system, open '/x'", 'it stopped a write outside'],
    ['bash: line 1: .bashrc: Is a directory', 'it stopped a write outside'],
    ["mv: cannot move '.git' to 'x': Device or resource busy", 'it stopped a write outside'],
    ['curl: (6) Could not resolve host: example.com', 'it stopped use of the network'],
    ['getaddrinfo EAI_AGAIN example.com', 'it stopped use of the network'],
    ['cat: /home/u/.ssh/id_rsa: No such file or directory', 'it stopped reading /home/u/.ssh'],
    ['cat: .env: Permission denied', 'it may have stopped this'],
  ])('shows in %s', ([printed = '', what = '']) => {
    expect(stopped(printed)?.startsWith(what)).toBe(true)
  })

  it('shows in a command that names what is hidden, and finds nothing there', () => {
    for (const command of ['ls ~/.ssh', 'ls $HOME/.ssh', 'ls /home/u/.ssh']) {
      expect(stopped('', { command, hasFailed: false })).toBe('it stopped reading /home/u/.ssh')
    }
  })

  it('names the hosts that were refused', () => {
    const more = { deniedHosts: ['example.com:443', 'example.org:80'] }
    expect(stopped('curl: (56) CONNECT tunnel failed, response 403', more)).toBe(
      'it stopped a connection to example.com:443, example.org:80',
    )
    expect(stopped('cp: cannot create: Read-only file system', more)).toMatch(
      /^it stopped a write [^]* and a connection to/,
    )
  })

  it('is nothing where a command failed by itself, or only speaks of such things', () => {
    expect(stopped('1 test failed')).toBeUndefined()
    expect(stopped('No such file or directory: a.ts')).toBeUndefined()
    expect(stopped('a log: Permission denied, ENOTFOUND', { hasFailed: false })).toBeUndefined()
  })
})
