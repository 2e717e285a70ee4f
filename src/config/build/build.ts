import type { Limiter } from '../../providers/compose/limiter.ts'
import type { ConfigHost } from '../config-host.ts'
import type { Entity } from '../references.ts'
import type { AgentConfig } from '../schema/sections.ts'

/** What the making of agents shares. */
export interface Build {
  /** In its one form, with the values of variables: it may hold secrets. */
  config: AgentConfig
  /** The same with `${VARIABLES}` as they were written. */
  raw: AgentConfig
  host: ConfigHost
  entities: readonly Entity[]
  /** What `%` shares, by what it is. */
  made: Map<string, unknown>
  /** By the section that asks for one: shared by all agents that are made of this configuration, at whatever time. */
  limiters: Map<string, Limiter>
  /** What was opened so far, to be closed where an agent cannot be made. */
  opened: { close(): unknown }[]
}

/** What was made for `key` before, or what `make` makes now. */
export function shared<T>(made: Map<string, unknown>, key: string, make: () => T): T {
  if (!made.has(key)) made.set(key, make())
  return made.get(key) as T // whoever uses a key always makes the same kind of thing for it
}
