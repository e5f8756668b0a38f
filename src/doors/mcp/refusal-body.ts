/** The answer to a refused request, as JSON-RPC has it. */
export function refusalBody(message: string, code = -32_000): string {
  return JSON.stringify({ jsonrpc: '2.0', error: { code, message }, id: null })
}
