import { describe, expect, it } from 'vitest'
import { childEnvironment } from '../../../src/runtime/tools/child-environment.ts'

describe('the environment of a child process', () => {
  it('is that of the program without secrets', () => {
    const env = {
      PATH: '/bin',
      HOME: '/home/u',
      NODE_ENV: 'test',
      A_KEY: '1',
      GH_TOKEN: '2',
      MY_SECRET: '3',
      db_password: '4',
    }
    expect(childEnvironment(env, [])).toEqual({ PATH: '/bin', HOME: '/home/u', NODE_ENV: 'test' })
    expect(childEnvironment(env, ['GH_TOKEN'])).toMatchObject({ GH_TOKEN: '2' })
  })

  it('has nothing by which a shell reads a line in another way than the policy', () => {
    const env = {
      ...{ BASH_ENV: 'x', ENV: 'x', PROMPT_COMMAND: 'x', CDPATH: '/home/u', OLDPWD: '/home/u' },
      ...{ BASHOPTS: 'dotglob', SHELLOPTS: 'physical', GLOBIGNORE: 'x', PWD: '/home/u/projects' },
    }
    expect(childEnvironment(env, [])).toEqual({ PWD: '/home/u/projects' })
    expect(childEnvironment(env, ['CDPATH'])).toEqual({ CDPATH: '/home/u', PWD: '/home/u/projects' })
  })
})
