import type { JsonObject } from '../../../contract/json.ts'
import type { ProviderState } from '../../../contract/message/content.ts'
import type { AssistantBuilder } from '../../kit/decode/assistant-builder.ts'
import { citationOf, containerFile, isCitation, reachOf } from '../../kit/optional/citations/annotations.ts'
import { CodePoints } from '../../kit/optional/citations/code-points.ts'
import type { ReplayPayload } from '../replay-state.ts'
import type { Annotations, OutputItem } from './output-items.ts'

/**
 * Emits citations.
 *
 * **Contract**
 * - The API sends citations in events and again with the finished item. Emits each citation once, in the API's order.
 * - Ranges are in code points. Emits a range beyond the current text when the text arrives.
 */
export class CitationWriter {
  readonly #builder: AssistantBuilder
  readonly #api: string
  readonly #state: (payload: ReplayPayload) => ProviderState
  readonly #unknown = new Set<string>()

  constructor(builder: AssistantBuilder, api: string, state: (payload: ReplayPayload) => ProviderState) {
    this.#builder = builder
    this.#api = api
    this.#state = state
  }

  /** Adds a citation of the text `key`. */
  add(open: OutputItem, key: number, annotation: JsonObject): void {
    const known = annotationsOf(open, key)
    known.list.push(annotation)
    const isNext = known.shown === known.list.length - 1
    const reach = reachOf(annotation)
    if (isNext && known.points.grow(this.#builder.written(key)).unitAt(reach) !== undefined) this.#show(open, key, known)
  }

  /** Completes the text `key` with all of its citations, if the finished item contains them. */
  complete(open: OutputItem, key: number, whole: readonly JsonObject[]): void {
    if (whole.length === 0 && open.annotations?.has(key) !== true) return
    const known = annotationsOf(open, key)
    if (whole.length >= known.list.length) known.list = [...whole]
    while (known.shown < known.list.length) this.#show(open, key, known)
  }

  #show(open: OutputItem, key: number, known: Annotations): void {
    const annotation = known.list[known.shown]
    known.shown += 1
    if (annotation === undefined) return
    if (isCitation(annotation)) this.#builder.citation(key, citationOf(annotation, known.points.grow(this.#builder.written(key))))
    else this.#warnOf(String(annotation.type))
    const file = containerFile(annotation, this.#api, this.#state({ shownBy: open.id }))
    if (file !== undefined) this.#builder.whole(`file ${file.fileId}`, file)
  }

  #warnOf(kind: string): void {
    if (this.#unknown.has(kind)) return
    this.#unknown.add(kind)
    this.#builder.warn(`The provider sent an annotation of the unknown type "${kind.slice(0, 60)}". It was dropped.`)
  }
}

function annotationsOf(open: OutputItem, key: number): Annotations {
  open.annotations ??= new Map()
  const known = open.annotations.get(key)
  if (known !== undefined) return known
  const begun: Annotations = { list: [], shown: 0, points: new CodePoints() }
  open.annotations.set(key, begun)
  return begun
}
