import { describe, expect, it } from 'vitest'
import type { PathStyle } from '../../../src/protocol/policy.ts'
import { closedBy, type ClosedPlace, ClosedPlaces } from '../../../src/rules/policy/closed-places.ts'

const places: readonly ClosedPlace[] = [
  { kind: 'credential', path: '/proc/*/environ' },
  { kind: 'denied', path: '/home/ada/app/secret' },
  { kind: 'personal', path: '/home/ada/Documents' },
  { kind: 'personal', path: '/home/ada/Documents/deep' },
]

const kindIn = (folder: string, path: string, style: PathStyle = 'posix') =>
  new ClosedPlaces(places, style).below(folder).kindOf(path)

describe('what a policy closes', () => {
  it('is what its lists name: credentials, denied and personal paths', () => {
    const base = { home: '/home/ada', cwd: '/home/ada/app' }
    const closed = closedBy(base, { deniedPaths: ['secret', '~/x'] }, { configFolder: '/etc/entia' })
    expect(closed.filter(({ kind }) => kind !== 'credential')).toEqual([
      { kind: 'denied', path: '/home/ada/app/secret' },
      { kind: 'denied', path: '/home/ada/x' },
      { kind: 'personal', path: '/home/ada/Documents' },
      { kind: 'personal', path: '/home/ada/Downloads' },
    ])
    expect(closed).toContainEqual({ kind: 'credential', path: '/home/ada/.ssh' })
    expect(closed).toContainEqual({ kind: 'credential', path: '/etc/entia' })
  })

  it('is closed with all that is below it', () => {
    expect(kindIn('/home/ada', '/home/ada/app/secret')).toBe('denied')
    expect(kindIn('/home/ada', '/home/ada/app/secret/deep/plan')).toBe('denied')
    expect(kindIn('/', '/proc/17/environ')).toBe('credential')
    expect(kindIn('/', '/proc/17/status')).toBeUndefined()
    expect(kindIn('/home/ada', '/home/ada/app/secrets')).toBeUndefined()
    expect(kindIn('/home/ada', '/home/ada/app')).toBeUndefined()
  })

  it('is open where a call names it, or a place in it; what is denied never is', () => {
    expect(kindIn('/home/ada/Documents', '/home/ada/Documents/deep/a')).toBeUndefined()
    expect(kindIn('/home/ada/Documents/deep', '/home/ada/Documents/deep/a')).toBeUndefined()
    expect(kindIn('/proc/17/environ', '/proc/17/environ')).toBeUndefined()
    expect(kindIn('/home/ada/app', '/home/ada/app/secret/plan')).toBe('denied')
  })

  it('is compared as the system compares names', () => {
    expect(kindIn('/home/ada', '/home/ada/APP/Secret/x')).toBeUndefined()
    expect(kindIn('/home/ada', '/home/ada/APP/Secret/x', 'darwin')).toBe('denied')
  })
})
