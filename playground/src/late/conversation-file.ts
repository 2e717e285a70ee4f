// The conversation parts other than text. `conversation-parts.tsx` loads them as one file.

export { EditMessage } from '../conversation/edit-message.tsx'
export { Ending } from '../conversation/ending/ending.tsx'
export { Sources } from '../conversation/sources.tsx'
export { Note } from '../notes/note.tsx'
export { Media } from '../parts/media.tsx'
export { RaceCard } from '../race/race-card.tsx'
export { RecordedRace } from '../race/recorded-race.tsx'
export { ConnectionNotice } from '../status/connection-notice.tsx'
export { MessageData } from '../tools/data-parts.tsx'
export { ServiceToolCard } from '../tools/service-tool-card.tsx'
export { ToolCard } from '../tools/tool-card.tsx'
