import type { ConfigError } from '../contract/errors.ts'
import { nearest } from '../contract/shape/nearest-name.ts'
import { fieldError, fieldOf, type Path } from './config-error.ts'
import { sectionsOf, valuesIn } from './schema/find.ts'
import { type Namespace, namespaces } from './schema/key-table.ts'
import type { AgentConfig } from './schema/sections.ts'

/** A parsed reference to an entity of the file or the host. */
interface Reference {
  /** `#id#`: an entity of the host. */
  isSystem: boolean
  /** `%name%`: an instance shared between agents. */
  isShared: boolean
  /** Absent if the name alone identifies the entity. */
  namespace?: string
  name: string
}

const braces = /^\{\{([^{}\r\n]*)\}\}$/
const part = '[^%#.{}\\r\\n]+'
const grammar = new RegExp(`^(?:#(?<system>[^#%]+)#|(?<open>%?)(?:(?<namespace>${part})\\.)?(?<name>${part})(?<close>%?))$`)

/**
 * Parses `{{name}}`, `{{namespace.name}}`, the same forms between `%`, or `{{#id#}}`. Returns `undefined` for other text and for an empty
 * reference, `malformed` for an invalid reference.
 */
export function parseReference(text: string): Reference | 'malformed' | undefined {
  const inner = braces.exec(text.trim())?.[1]?.trim()
  if (inner === undefined || inner === '') return undefined
  const { system, open, namespace, name = '', close } = grammar.exec(inner)?.groups ?? {}
  if (system !== undefined && system.trim() !== '') return { isSystem: true, isShared: true, name: system.trim() }
  if (name.trim() === '' || namespace?.trim() === '' || open !== close) return 'malformed'
  const reference = { isSystem: false, isShared: open === '%', name: name.trim() }
  return namespace === undefined ? reference : { ...reference, namespace: namespace.trim() }
}

/** A part of the file that other sections can refer to. */
export interface Entity {
  namespace: Namespace
  /** Name of the entity in references. */
  name: string
  /** Alternative name, used if no entity has that name. */
  otherName?: string
  path: Path
}

/** The entity that a field refers to. `isShared`: agents share one instance. */
export interface Resolved {
  entity: Entity
  isShared: boolean
}

/** Returns all entities of a file. Throws `ConfigError` `badReference` for an invalid or duplicate id. */
export function entitiesIn(config: AgentConfig): Entity[] {
  const entities = new Map<string, Entity>()
  for (const found of valuesIn(config)) {
    const { inner, isList, others } = found.key
    const namespace = isList ? inner?.id?.namespace : undefined
    if (namespace === undefined) continue
    for (const [section, path] of sectionsOf(found)) {
      const { id, name }: Named = section
      // In an open section, `name` is an ordinary key.
      const entity = entityOf(namespace, { id, ...(others === undefined && { name }) }, path)
      if (entity === undefined) continue
      const key = `${namespace}.${entity.name}`
      const other = entities.get(key)
      if (other !== undefined) throw twice(entity, other)
      entities.set(key, entity)
    }
  }
  return [...entities.values()]
}

interface Named {
  id?: string | undefined
  name?: string | undefined
}

function entityOf(namespace: Namespace, { id, name }: Named, path: Path): Entity | undefined {
  const given = id ?? name
  if (given === undefined) return undefined
  const field: Path = [...path, id === undefined ? 'name' : 'id']
  const reference = id === undefined ? undefined : parseReference(id)
  if (reference === 'malformed' || reference?.isSystem === true) throw malformed(field, given)
  if (reference?.namespace !== undefined && reference.namespace !== namespace) {
    throw fieldError('badReference', field, `${fieldOf(field)} is ${given}, but this id must be in the namespace ${namespace}.`)
  }
  const entity = { namespace, name: reference?.name ?? given, path }
  return id !== undefined && name !== undefined ? { ...entity, otherName: name } : entity
}

/**
 * Resolves the text at `path`, a reference or a plain name, in `namespace`. Throws `ConfigError` `badReference` if the text matches no
 * entity, several entities, or an entity of another kind.
 */
export function resolveName(entities: readonly Entity[], text: string, namespace: Namespace, path: Path): Resolved {
  const reference = parseReference(text)
  if (reference === 'malformed') throw malformed(path, text)
  if (reference === undefined) return { entity: only(byName(entities, namespace, text), text, namespace, entities, path), isShared: false }
  return { entity: referredTo(entities, reference, text, namespace, path), isShared: reference.isShared }
}

function referredTo(entities: readonly Entity[], reference: Reference, text: string, namespace: Namespace, path: Path): Entity {
  const { name, namespace: givenNamespace } = reference
  if (givenNamespace !== undefined && givenNamespace !== namespace) {
    const isKnown = namespaces.some((each) => each === givenNamespace)
    const why = isKnown
      ? `a ${givenNamespace}, but this key needs a ${namespace}`
      : `no namespace: ${givenNamespace}. ${nearest(givenNamespace, namespaces)}`
    throw fieldError('badReference', path, `${fieldOf(path)} is ${shownReference(text)}, which names ${why}.`)
  }
  if (givenNamespace !== undefined) return only(byName(entities, namespace, name), text, namespace, entities, path)
  const everywhere = namespaces.flatMap((each) => byName(entities, each, name))
  const entity = only(everywhere, text, namespace, entities, path)
  if (entity.namespace === namespace) return entity
  const advice = `It is a ${entity.namespace}, but this key needs a ${namespace}.`
  throw fieldError('badReference', path, `${fieldOf(path)} is ${shownReference(text)}. ${advice}`)
}

function byName(entities: readonly Entity[], namespace: Namespace, name: string): Entity[] {
  const here = entities.filter((each) => each.namespace === namespace)
  const named = here.filter((each) => each.name === name)
  return named.length > 0 ? named : here.filter((each) => each.otherName === name)
}

function only(found: readonly Entity[], text: string, namespace: Namespace, entities: readonly Entity[], path: Path): Entity {
  const [entity, another] = found
  const field = `${fieldOf(path)} is ${shownReference(text)}`
  if (entity !== undefined && another === undefined) return entity
  if (entity !== undefined) {
    const places = found.map((each) => `{{${each.namespace}.${each.name}}} (${fieldOf(each.path)})`).join(', ')
    throw fieldError('badReference', path, `${field}, which is ambiguous: ${places}. Add the namespace or use the id.`)
  }
  const known = entities.filter((each) => each.namespace === namespace).map(({ name }) => name)
  const advice = known.length === 0 ? `The file defines no ${namespace}.` : nearest(text.replace(/[{}%]/g, ''), known)
  throw fieldError('badReference', path, `${field}, but no such ${namespace} exists. ${advice}`)
}

function malformed(path: Path, text: string): ConfigError {
  const forms = '{{name}}, {{namespace.name}}, {{%name%}}, {{%namespace.name%}} or {{#id#}}'
  return fieldError('badReference', path, `${fieldOf(path)} is ${shownReference(text)}, which is not a reference. Write ${forms}.`)
}

function twice(entity: Entity, other: Entity): ConfigError {
  const places = `${fieldOf(other.path)} and ${fieldOf(entity.path)}`
  return fieldError(
    'badReference',
    entity.path,
    `The name ${shownReference(entity.name)} is used twice in ${entity.namespace}: ${places}. Use unique names.`,
  )
}

function shownReference(text: string): string {
  return JSON.stringify(text.slice(0, 60))
}
