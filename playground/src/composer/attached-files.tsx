import { escapeControls } from '../../../src/store.ts'
import { Icon } from '../parts/icon.tsx'
import { IconButton } from '../parts/icon-button.tsx'
import { keepPlace } from '../parts/keep-place.ts'
import { mediaName, pictureUrl, sizeOf } from '../parts/media-facts.ts'
import { scrollable } from '../parts/scrollable.ts'
import type { Attachment } from '../state/conversation/attachments.ts'
import type { Draft } from '../state/conversation/draft.ts'

/** Attached files as removable chips, and the reasons why others were rejected. */
export function AttachedFiles({ draft: { attached, isStoring, refused } }: { draft: Draft }) {
  const remove = (block: Attachment) => (attached.value = attached.value.filter((other) => other !== block))
  return (
    <>
      {attached.value.length > 0 && (
        <ul class="attached" aria-label="Attached" aria-busy={isStoring.value} {...scrollable}>
          {attached.value.map((block, at) => (
            <li key={at} data-testid="attached">
              <Thumbnail block={block} />
              <span class="media-name">{escapeControls(mediaName(block))}</span>
              <span class="media-facts">{sizeOf(block)}</span>
              <IconButton icon="close" label={`Remove ${escapeControls(mediaName(block))}`} onClick={() => remove(block)} />
            </li>
          ))}
        </ul>
      )}
      {refused.value.length > 0 && <Refused reasons={refused.value} onDismiss={() => (refused.value = [])} />}
    </>
  )
}

/** The rejected files, each with a reason. */
function Refused({ reasons, onDismiss }: { reasons: readonly string[]; onDismiss: () => void }) {
  return (
    <div class="warning refused" role="alert">
      <ul aria-label="Not attached" {...scrollable}>
        {reasons.map((reason, at) => (
          <li key={at}>{escapeControls(reason)}</li>
        ))}
      </ul>
      <IconButton icon="close" label="Dismiss" onClick={keepPlace(onDismiss)} />
    </div>
  )
}

function Thumbnail({ block }: { block: Attachment }) {
  const url = pictureUrl(block)
  return url === undefined ? <Icon name="file" /> : <img class="thumbnail" alt="" src={url} />
}
