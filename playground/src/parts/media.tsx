import { useSignal } from '@preact/signals'
import type { FileContent, ImageContent } from '../../../src/index.ts'
import { escapeControls } from '../../../src/store.ts'
import { download } from './download.ts'
import { Icon } from './icon.tsx'
import { IconButton } from './icon-button.tsx'
import { mediaName, pictureUrl, sizeOf } from './media-facts.ts'

/** A picture or a file of a message. A picture is shown; anything else can be saved, and is never opened in the page. */
export function Media({ block, alt }: { block: ImageContent | FileContent; alt: string }) {
  const shown = pictureUrl(block)
  return (
    <figure class="media" data-testid="media" data-kind={shown === undefined ? 'file' : 'picture'}>
      {shown !== undefined && <img class="image" alt={alt} src={shown} />}
      <figcaption class="media-line">
        {shown === undefined && <Icon name="file" />}
        <span class="media-name">{escapeControls(mediaName(block))}</span>
        <span class="media-facts">{[escapeControls(block.mimeType), placeOf(block)].join(' · ')}</span>
        <Fetch block={block} />
      </figcaption>
    </figure>
  )
}

/** How to get the bytes, if possible. */
function Fetch({ block }: { block: ImageContent | FileContent }) {
  const failure = useSignal('')
  const { data, url, mimeType } = block
  if (url !== undefined) {
    // A value from a provider or a session file is checked before it is used as a URL.
    if (!/^https?:\/\//i.test(url)) return null
    return (
      <a class="external" href={url} target="_blank" rel="noopener noreferrer nofollow">
        Open
      </a>
    )
  }
  if (data === undefined) return null
  const name = mediaName(block)
  const save = () => {
    try {
      download({ name, type: mimeType, content: Uint8Array.from(atob(data), (character) => character.charCodeAt(0)) })
    } catch {
      failure.value = 'It cannot be saved: its bytes came broken.'
    }
  }
  return (
    <>
      <IconButton icon="download" label={`Download ${escapeControls(name)}`} onClick={save} />
      <span role="status">{failure.value}</span>
    </>
  )
}

function placeOf(block: ImageContent | FileContent): string {
  if (block.data !== undefined) return sizeOf(block)
  return block.url === undefined ? 'stored by the provider' : (URL.parse(block.url)?.host ?? 'no address')
}
