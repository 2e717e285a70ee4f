import { withMedia } from '../../../../src/base/json/media-blocks.ts'
import type { MediaContent } from '../../../../src/contract/message/content.ts'
import type { AgentEvent, AgentMessage } from '../../../../src/index.ts'
import { messagesWithBytes } from '../../../../src/session.ts'
import type { MediaForm } from '../../stream/event-source.ts'
import { mappedEvents, type TellEvent } from '../../stream/mapped-events.ts'
import type { LiveSession } from '../live-session.ts'
import { withValue } from '../named-media.ts'

/** Returns the base URL for a session's media, to which the hash is appended. */
export function mediaAddress(base: string, sessionId: string): string {
  return `${base.replace(/\/+$/, '')}/sessions/${encodeURIComponent(sessionId)}/blobs/`
}

/** Converts the media in events to this form. */
export function eventsIn(form: MediaForm, live: LiveSession, events: AsyncIterable<AgentEvent>): AsyncIterable<AgentEvent> {
  if (form === 'bytes') return events
  const inEvent: TellEvent = (event) => live.media.inEvent(event)
  if (form === 'names') return mappedEvents(events, inEvent)
  const address = mediaAddress(form.base, live.sessionId)
  return mappedEvents(events, (event) => {
    return withValue(inEvent(event), (named) => linked(named, address))
  })
}

/** Converts the media in messages to this form. */
export async function messagesIn(form: MediaForm, live: LiveSession, messages: readonly AgentMessage[]): Promise<readonly AgentMessage[]> {
  const { store, sessionId, media } = live
  if (form === 'bytes') return messagesWithBytes(store, sessionId, messages)
  const named = await media.inMessages(messages)
  return form === 'names' ? named : linked(named, mediaAddress(form.base, sessionId))
}

function linked<Value extends AgentEvent | readonly AgentMessage[]>(value: Value, address: string): Value {
  return withMedia(value, ({ blob, ...block }): MediaContent => (blob === undefined ? block : { ...block, url: address + blob.hash }))
}
