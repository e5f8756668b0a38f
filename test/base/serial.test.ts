import { describe, expect, it } from 'vitest'
import { Serial, SerialByKey } from '../../src/base/serial.ts'

describe('work that is done one after the other', () => {
  it('begins once the work before it has ended, and resolves as it does', async () => {
    const serial = new Serial()
    const first = Promise.withResolvers<string>()
    const begun: string[] = []
    const results = [
      serial.run(() => {
        begun.push('first')
        return first.promise
      }),
      serial.run(() => {
        begun.push('second')
        return 'b'
      }),
    ]
    await Promise.resolve()
    expect(begun).toEqual(['first'])
    first.resolve('a')
    expect(await Promise.all(results)).toEqual(['a', 'b'])
    expect(begun).toEqual(['first', 'second'])
  })

  it('goes on behind work that fails, and the one who asked for it gets the error', async () => {
    const serial = new Serial()
    const failed = serial.run(() => {
      throw new Error('no space left')
    })
    const next = serial.run(() => 'done')
    await expect(failed).rejects.toThrow('no space left')
    expect(await next).toBe('done')
    await serial.settled()
  })

  it('is settled once all that was asked for so far has ended', async () => {
    const serial = new Serial()
    const { promise, resolve } = Promise.withResolvers<void>()
    const ended: string[] = []
    void serial.run(() => promise).then(() => ended.push('work'))
    const settled = serial.settled().then(() => ended.push('settled'))
    resolve()
    await settled
    expect(ended).toEqual(['work', 'settled'])
  })
})

describe('work that is done one after the other for each key', () => {
  it('waits for work of its own key alone', async () => {
    const serial = new SerialByKey()
    const { promise, resolve } = Promise.withResolvers<void>()
    const ended: string[] = []
    const all = [
      serial.run('a', () => promise).then(() => ended.push('a 1')),
      serial.run('a', () => {}).then(() => ended.push('a 2')),
      serial.run('b', () => {}).then(() => ended.push('b')),
    ]
    await all[2]
    expect(ended).toEqual(['b'])
    resolve()
    await Promise.all(all)
    expect(ended).toEqual(['b', 'a 1', 'a 2'])
    await serial.settled()
  })

  it('goes on behind work that fails', async () => {
    const serial = new SerialByKey()
    const failed = serial.run('a', () => Promise.reject(new Error('gone')))
    const next = serial.run('a', () => 'done')
    await expect(failed).rejects.toThrow('gone')
    expect(await next).toBe('done')
  })
})
