import { AbortScope } from '../base/abort.ts'
import { pointerSegments } from '../base/json/json-value.ts'
import { isPrivateHost, mayLeadTo } from '../base/private-host.ts'
import { startTimer } from '../base/timer.ts'
import { errorText, PhiError } from '../contract/errors.ts'
import { isObject, type JsonSchema, setOwnField } from '../contract/json.ts'
import { field, isElsewhere, maxHops, type OpenApiDocument, parseDocument, shownRef } from './document.ts'
import { asKey } from './operation-names.ts'
import { defaultTimeoutMs, OpenApiError, type OpenApiResolver, type OpenApiToolsOptions } from './options.ts'

/** Maximum files of a document. Large APIs with one file per operation have about 2,000. */
const maxFiles = 5_000
const maxChars = 64 * 1024 * 1024
/** Maximum depth of files that refer to each other. */
const maxDepth = 100
/** Maximum objects and lists that are copied. */
const maxNodes = 2_000_000
/** Files read in parallel. */
const abreast = 8

/** Key of the bundled parts. References to files are not followed there. */
const partsKey = 'x-phi-parts'

/** A file of a document. */
interface File {
  /** The file's URL, or its path relative to the document. */
  readonly place: string
  readonly root: unknown
  readonly depth: number
  /** Copies by source object. One map holds descriptions, the other holds objects whose keys are names. */
  readonly copies: readonly [Map<object, object>, Map<object, object>]
}

/** A referenced node that becomes a part of the bundle. */
interface Part {
  readonly file: File
  readonly ref: string
  readonly name: string
  /** Nodes that refer to this node. */
  readonly from: object[]
}

/**
 * Bundles the document: everything that its operations refer to in other files, read by `resolve`, becomes part of it. Returns it
 * unchanged without `resolve`.
 *
 * **Contract**
 * - Follows only inputs: parameters, bodies and their schemas. Ignores responses, callbacks and examples. Reads each file once.
 * - At most 5,000 files with 64 Mi characters in total, at most 100 levels deep.
 * - Web files are read over https or from the document's own origin, never from a private network that the document is not in. Paths
 *   cannot leave the first folder.
 * - A `$ref` without a target in its file stays unchanged.
 * - Rejects with `OpenApiError` `unavailable` if a file cannot be read, `invalidDocument` if it is invalid or too large; with the reason
 *   of `signal`.
 */
export async function bundled(api: OpenApiDocument, options: OpenApiToolsOptions, signal?: AbortSignal): Promise<OpenApiDocument> {
  const { resolve } = options
  if (resolve === undefined) return api
  const scope = new AbortScope(signal ?? new AbortController().signal)
  try {
    return await new Bundle(api, { ...options, resolve }, scope).whole()
  } finally {
    scope.abort()
    scope.release()
  }
}

type Reading = Pick<OpenApiToolsOptions, 'timeoutMs' | 'maxYamlChars'> & { resolve: OpenApiResolver }

class Bundle {
  readonly #api: OpenApiDocument
  readonly #options: Reading
  readonly #scope: AbortScope
  readonly #first: File
  readonly #files = new Map<string, Promise<File>>()
  readonly #parts = new Map<string, Part>()
  readonly #names = new Set<string>()
  readonly #written: JsonSchema = {}
  #waiting: Part[] = []
  #chars = 0
  #nodes = 0

  constructor(api: OpenApiDocument, options: Reading, scope: AbortScope) {
    this.#api = api
    this.#options = options
    this.#scope = scope
    this.#first = fileOf(api.url?.href ?? api.path ?? '', api.root, 0)
    this.#files.set(this.#first.place, Promise.resolve(this.#first))
  }

  async whole(): Promise<OpenApiDocument> {
    const { root } = this.#api
    const given = field(root, 'components')
    const paths = this.#copyOfNames(field(root, 'paths'))
    const securitySchemes = this.#copyOfNames(field(given, 'securitySchemes'))
    while (this.#waiting.length > 0) {
      const [...parts] = this.#waiting.splice(0, abreast)
      await this.#scope.race(Promise.all(parts.map((part) => this.#fill(part))))
    }
    if (this.#files.size === 1) return { ...this.#api, isBundled: true }
    const components = isObject(given) ? { ...given, ...(securitySchemes !== undefined && { securitySchemes }) } : given
    return { ...this.#api, isBundled: true, root: { ...root, paths, components, [partsKey]: this.#written } }
  }

  /** A single file may contain all names. */
  #copyOfNames(node: unknown): unknown {
    return this.#copy(this.#first, node, typeof field(node, '$ref') !== 'string')
  }

  async #fill({ file, ref, name, from }: Part): Promise<void> {
    const found = await this.#find(file, ref, 0)
    const nowhere = isElsewhere(ref) ? ref : `${file.place}${ref}`
    if (found === undefined) for (const node of from) setOwnField(node, '$ref', nowhere)
    else setOwnField(this.#written, name, this.#copy(found.file, found.node, false))
  }

  /** Finds the target of `ref` in `file`. A pointer may pass through other references. */
  async #find(file: File, ref: string, hops: number): Promise<{ file: File; node: unknown } | undefined> {
    if (hops > maxHops) return undefined
    const [address = '', fragment = ''] = ref.split(/#(.*)/s)
    if (fragment !== '' && !fragment.startsWith('/')) return undefined
    let at = address === '' ? file : await this.#file(file, address)
    let node = at.root
    for (const segment of pointerSegments(fragment)) {
      const next = field(node, '$ref')
      if (!hasOwn(node, segment) && typeof next === 'string') {
        const through = await this.#find(at, next, hops + 1)
        if (through === undefined) return undefined
        ;({ file: at, node } = through)
      }
      if (!hasOwn(node, segment)) return undefined
      node = Reflect.get(node, segment)
    }
    return { file: at, node }
  }

  #file(from: File, address: string): Promise<File> {
    const place = this.#placeOf(from, address)
    const known = this.#files.get(place)
    if (known !== undefined) return known
    const tooMuch = this.#files.size > maxFiles ? `more than ${maxFiles} files` : `a chain of more than ${maxDepth} files`
    if (this.#files.size > maxFiles || from.depth >= maxDepth)
      throw new OpenApiError('invalidDocument', `The document refers to ${tooMuch}.`)
    const file = this.#read(place).then((root) => fileOf(place, root, from.depth + 1))
    this.#files.set(place, file)
    return file
  }

  async #read(place: string): Promise<unknown> {
    const { resolve, timeoutMs = defaultTimeoutMs, maxYamlChars } = this.#options
    const scope = new AbortScope(this.#scope)
    const late = new OpenApiError('unavailable', `${nameOf(place)} is unavailable: resolve did not return within ${timeoutMs} ms.`)
    const stopTimer = startTimer(timeoutMs, () => scope.abort(late))
    try {
      const given: unknown = await scope.race(Promise.resolve(resolve(place, { signal: scope.signal })))
      if (typeof given !== 'string') {
        if (isObject(given)) return given
        throw new OpenApiError('invalidDocument', `${nameOf(place)} is not a document: resolve must return its text or an object.`)
      }
      this.#chars += given.length
      if (this.#chars > maxChars)
        throw new OpenApiError('invalidDocument', `The files of the document have more than ${maxChars} characters.`)
      return await parseDocument(given, maxYamlChars, nameOf(place))
    } catch (error) {
      if (PhiError.isInstance(error) || scope.aborted) throw error
      throw new OpenApiError('unavailable', `${nameOf(place)} is unavailable: ${errorText(error)}`, { cause: error })
    } finally {
      stopTimer()
      scope.release()
    }
  }

  #placeOf(from: File, address: string): string {
    const { url } = this.#api
    const base = url === undefined ? undefined : from.place
    const to = URL.parse(address, base)
    if (to === null) {
      if (url === undefined) return pathFrom(from.place, address)
      throw new OpenApiError('invalidDocument', `The document refers to ${shownRef(address)}, which is not a valid URL.`)
    }
    to.hash = ''
    const isFine =
      to.username + to.password === '' &&
      (url === undefined ? to.protocol === 'https:' && !isPrivateHost(to.hostname) : to.origin === url.origin || mayLeadTo(url, to))
    if (isFine) return to.href
    const why = "files must use https or the document's origin, and must not be in another private network"
    throw new OpenApiError('invalidDocument', `The document refers to ${shownRef(to.href)}, which is not allowed: ${why}.`)
  }

  /** Copies a node and turns references into parts. Iterative, because files may be nested deeply. */
  #copy(file: File, start: unknown, startsWithNames: boolean): unknown {
    const open: { node: object; copy: object; areNames: boolean }[] = []
    const copied = (node: unknown, areNames: boolean): unknown => {
      if (typeof node !== 'object' || node === null) return node
      const copies = file.copies[areNames ? 1 : 0]
      const known = copies.get(node)
      if (known !== undefined) return known
      this.#nodes += 1
      if (this.#nodes > maxNodes) throw new OpenApiError('invalidDocument', `The document expands to more than ${maxNodes} objects.`)
      const copy: object = Array.isArray(node) ? [] : {}
      copies.set(node, copy)
      open.push({ node, copy, areNames })
      return copy
    }
    const whole = copied(start, startsWithNames)
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      const { node, copy, areNames } = next
      for (const [key, value] of Object.entries(node)) {
        const isPlain = areNames || Array.isArray(node)
        if (!isPlain && (literal.has(key) || key.startsWith('x-'))) setOwnField(copy, key, value)
        else if (!isPlain && key === '$ref' && typeof value === 'string') setOwnField(copy, key, this.#refTo(file, value, copy))
        else setOwnField(copy, key, copied(value, !isPlain && ofNames.has(key) && isObject(value)))
      }
    }
    return whole
  }

  #refTo(file: File, ref: string, from: object): string {
    const id = JSON.stringify(isElsewhere(ref) ? this.#idOf(file, ref) : [file.place, ref])
    let part = this.#parts.get(id)
    if (part === undefined) {
      part = { file, ref, name: this.#freeName(ref), from: [] }
      this.#parts.set(id, part)
      this.#waiting.push(part)
    }
    part.from.push(from)
    return `#/${partsKey}/${part.name}`
  }

  /** Normalizes a reference, so that two spellings of the same target produce one part. */
  #idOf(file: File, ref: string): string[] {
    const [address = '', fragment = ''] = ref.split(/#(.*)/s)
    return [this.#placeOf(file, address), `#${fragment}`]
  }

  /** Uses the last segment of the reference, because models see the name. */
  #freeName(ref: string): string {
    const last = /([^/#]*?)(\.(json|ya?ml))?#?$/i.exec(ref)?.[1] ?? ''
    const base = asKey(last) || 'part'
    let name = base
    for (let at = 2; this.#names.has(name); at += 1) name = `${base}_${at}`
    this.#names.add(name)
    return name
  }
}

function fileOf(place: string, root: unknown, depth: number): File {
  return { place, root, depth, copies: [new Map(), new Map()] }
}

function hasOwn(node: unknown, key: string): node is object {
  return typeof node === 'object' && node !== null && Object.hasOwn(node, key)
}

function nameOf(place: string): string {
  return `The file ${shownRef(place)} of the OpenAPI document`
}

/** Resolves `address` relative to the file at `from`. */
function pathFrom(from: string, address: string): string {
  const segments = address.startsWith('/') ? [] : from.split('/').slice(0, -1)
  for (const segment of pointerSegments(`/${address.replace(/\?.*$/s, '')}`)) {
    if (segment === '..' && segments.pop() === undefined) {
      const why = "which is above the document's folder: read the document from there"
      throw new OpenApiError('invalidDocument', `The document refers to ${shownRef(address)}, ${why}.`)
    }
    if (segment !== '' && segment !== '.' && segment !== '..') segments.push(segment)
  }
  return segments.join('/')
}

const words = (text: string): ReadonlySet<string> => new Set(text.split(' '))
/** Keywords that do not describe a request: values, and responses. */
const literal = words('example examples default enum const externalDocs responses callbacks links webhooks discriminator')
/** Keywords whose object has arbitrary names as keys. */
const ofNames = words(
  'properties patternProperties dependentSchemas $defs definitions content encoding paths pathItems schemas parameters requestBodies',
)
