import { onTestFinished, expect, it, describe } from 'vitest'
import { startAnthropicServer } from '../servers/anthropic-server.ts'

describe('a loopback server', () => {
  it('closes no idle socket, which a busy client would use once more', async () => {
    const server = await startAnthropicServer(() => ({ text: 'Hi' }))
    onTestFinished(() => server.close())
    const response = await fetch(`${server.url}/v1/messages`, {
      method: 'POST',
      body: JSON.stringify({ model: 'm', max_tokens: 1, messages: [{ role: 'user', content: 'Hello' }], stream: true }),
    })
    expect(response.status).toBe(200)
    expect(response.headers.get('keep-alive')).toBeNull()
    await response.text()
  })
})
