// Reads what a page would be sent of a world, and throws it away: for `inspector-cost`, in a process of its own, as a browser is.
// Usage: inspector-reader.ts <url of the page> <world>
const [, , url = '', world = ''] = process.argv
const { hash, origin } = new URL(url)
const token = new URLSearchParams(hash.slice(1)).get('token') ?? ''
const live = new URL(`/api/live?world=${world}`, origin)
const { body } = await fetch(live, { headers: { Authorization: `Bearer ${token}` } })
let isFirst = true
for await (const _ of body as unknown as AsyncIterable<Uint8Array>) {
  if (isFirst) process.stdout.write('reads\n')
  isFirst = false
}
