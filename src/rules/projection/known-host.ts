import { HostFacts } from '../../../components/agent/host-facts.ts'
import type { HostFactsData } from '../../protocol/host.ts'
import type { World } from '../../world/world.ts'

/** What a World knows of the Host that drives it; `undefined` as long as none has. */
export function knownHost(world: World): HostFactsData | undefined {
  const [host] = world.query(HostFacts)
  return host === undefined ? undefined : world.read(host, HostFacts)
}
