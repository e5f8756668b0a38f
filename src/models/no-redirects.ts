/**
 * A `fetch` that follows no redirect: the whole conversation and the headers would go to an address that nobody chose. The
 * answer that redirects comes back as it is.
 *
 * @param send makes the requests; Node's own `fetch` where it is absent
 */
export function withoutRedirects(send: typeof fetch | undefined): typeof fetch {
  return (input, init) => (send ?? fetch)(input, { ...init, redirect: 'manual' })
}
