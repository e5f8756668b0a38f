import { optionalPackages } from '../../base/optional-packages.ts'

const packages = ['@modelcontextprotocol/server', '@modelcontextprotocol/node'] as const

/** The SDK of servers, loaded when the first server is made. */
export type ServerSdk = typeof import('@modelcontextprotocol/server')

/** @param user who needs it, for the error. @throws `missing-peer` */
export async function serverSdk(user: string): Promise<ServerSdk> {
  return optionalPackages(user, packages, () => import('@modelcontextprotocol/server'))
}

/** Its part for standard input and output. @throws `missing-peer` */
export async function stdioSdk(user: string): Promise<typeof import('@modelcontextprotocol/server/stdio')> {
  return optionalPackages(user, packages, () => import('@modelcontextprotocol/server/stdio'))
}

/** Its part for HTTP servers of Node. @throws `missing-peer` */
export async function nodeSdk(user: string): Promise<typeof import('@modelcontextprotocol/node')> {
  return optionalPackages(user, packages, () => import('@modelcontextprotocol/node'))
}
