import { lazy } from './lazy.tsx'

/** Parts that are not needed for the first words of a response, in one file that loads right after them. */
const parts = () => import('./conversation-file.ts')

export const ConnectionNotice = lazy(async () => (await parts()).ConnectionNotice)
export const EditMessage = lazy(async () => (await parts()).EditMessage)
export const Ending = lazy(async () => (await parts()).Ending)
export const Media = lazy(async () => (await parts()).Media)
export const MessageData = lazy(async () => (await parts()).MessageData, { waiting: null })
export const Note = lazy(async () => (await parts()).Note)
export const RaceCard = lazy(async () => (await parts()).RaceCard)
export const RecordedRace = lazy(async () => (await parts()).RecordedRace)
export const ServiceToolCard = lazy(async () => (await parts()).ServiceToolCard)
export const Sources = lazy(async () => (await parts()).Sources)
export const ToolCard = lazy(async () => (await parts()).ToolCard)

const all = [ConnectionNotice, EditMessage, Ending, Media, MessageData, Note, RaceCard, RecordedRace, ServiceToolCard, Sources, ToolCard]

/** Resolves once all parts have loaded or failed. Code that uses a missing part then reports the failure itself. */
export async function loadLateParts(): Promise<void> {
  await Promise.all(all.map((part) => part.load()))
}
