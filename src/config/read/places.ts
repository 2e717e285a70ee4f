import type { Path, Place } from '../config-error.ts'
import type { AgentConfig } from '../schema/sections.ts'

type PlaceOf = (path: Path) => Place | undefined

/** Errors that are found while agents are made can still say where in the text they come from. */
const places = new WeakMap<AgentConfig, PlaceOf>()

/** Remembers where the parts of `config` stand in its text. */
export function rememberPlaces(config: AgentConfig, placeOf: PlaceOf): void {
  places.set(config, placeOf)
}

/** Where `path` of `config` stands; undefined for one that was not parsed. */
export function placeIn(config: AgentConfig, path: Path): Place | undefined {
  return places.get(config)?.(path)
}
