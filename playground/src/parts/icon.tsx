/** SVG paths on a 16-pixel grid. */
const paths = {
  plus: 'M8 3v10M3 8h10',
  search: 'M7 12a5 5 0 1 0 0-10 5 5 0 0 0 0 10ZM11 11l3 3',
  close: 'M4 4l8 8M12 4l-8 8',
  ban: 'M8 13.5a5.5 5.5 0 1 0 0-11 5.5 5.5 0 0 0 0 11ZM4.2 4.2l7.6 7.6',
  minus: 'M4 8h8',
  spinner: 'M8 2.5A5.5 5.5 0 1 1 2.5 8',
  check: 'M3 8.5l3.2 3.2L13 5',
  copy: 'M6 6h7v7H6zM10 6V3H3v7h3',
  rerun: 'M13 8a5 5 0 1 1-1.6-3.7M13 2v3h-3',
  branch: 'M5 3v10M5 9c4 0 6-1 6-4M11 5a1.5 1.5 0 1 0 0-3 1.5 1.5 0 0 0 0 3ZM5 3.4a.4.4 0 1 0 0-.8',
  edit: 'M3 13l.6-2.6L10.8 3.2l2 2-7.2 7.2zM9.5 4.5l2 2',
  good: 'M5 7v6H2.5V7zM5 7l2.6-4.8c1.3 0 1.8.9 1.6 1.9L8.8 6.5h3.4c1 0 1.5.8 1.3 1.7l-.9 3.6c-.2.8-.7 1.2-1.5 1.2H5',
  bad: 'M5 9V3H2.5v6zM5 9l2.6 4.8c1.3 0 1.8-.9 1.6-1.9l-.4-2.4h3.4c1 0 1.5-.8 1.3-1.7l-.9-3.6c-.2-.8-.7-1.2-1.5-1.2H5',
  chevron: 'M6 4l4 4-4 4',
  down: 'M8 3v10M4 9l4 4 4-4',
  unfold: 'M4.5 6.5L8 10l3.5-3.5',
  stop: 'M4.5 4.5h7v7h-7z',
  send: 'M8 13V3M4 7l4-4 4 4',
  sun: 'M8 11a3 3 0 1 0 0-6 3 3 0 0 0 0 6ZM8 1.5v1M8 13.5v1M1.5 8h1M13.5 8h1M3.4 3.4l.7.7M11.9 11.9l.7.7M12.6 3.4l-.7.7M4.1 11.9l-.7.7',
  moon: 'M13 9.5A5.5 5.5 0 0 1 6.5 3a5.5 5.5 0 1 0 6.5 6.5Z',
  panel: 'M2.5 3h11v10h-11zM10 3v10',
  menu: 'M2.5 4.5h11M2.5 8h11M2.5 11.5h11',
  upload: 'M8 10V3M5 6l3-3 3 3M3 11v2h10v-2',
  download: 'M8 3v7M5 7l3 3 3-3M3 12v1h10v-1',
  trash: 'M3 4.5h10M6 4.5V3h4v1.5M4.5 4.5l.6 8.5h5.8l.6-8.5',
  dot: 'M8 10.5a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5Z',
  parallel: 'M4 3v10M8 3v10M12 3v10',
  file: 'M4 2h5l3 3v9H4zM9 2v3h3',
  clip: 'M12 7.5l-4.6 4.6a2.6 2.6 0 0 1-3.7-3.7l5.3-5.3a1.8 1.8 0 0 1 2.5 2.5l-5 5a.9.9 0 0 1-1.3-1.3l4.3-4.3',
  camera: 'M2.5 5h2.6L6.3 3.3h3.4L10.9 5h2.6v8h-11zM8 11.2a2.2 2.2 0 1 0 0-4.4 2.2 2.2 0 0 0 0 4.4Z',
  fold: 'M8 2v4M6 4l2 2 2-2M8 14v-4M6 12l2-2 2 2M3 8h10',
  agent: 'M8 3l5 5-5 5-5-5z',
  help: 'M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12ZM6.3 6.3c.2-1.8 3.4-1.7 3.4.2 0 1.3-1.7 1.3-1.7 2.6M8 11.3v.1',
  sliders: 'M2 5h6M12 5h2M10 7a2 2 0 1 0 0-4 2 2 0 0 0 0 4ZM2 11h2M8 11h6M6 13a2 2 0 1 0 0-4 2 2 0 0 0 0 4Z',
  play: 'M5 3.5l7 4.5-7 4.5z',
  columns: 'M2.5 3h3v10h-3zM6.5 3h3v10h-3zM10.5 3h3v10h-3z',
  code: 'M5.5 4.5L2 8l3.5 3.5M10.5 4.5L14 8l-3.5 3.5',
  server: 'M3 3h10v4H3zM3 9h10v4H3zM5.5 5h.1M5.5 11h.1',
  stepBack: 'M11 4L6 8l5 4zM4.5 4v8',
  stepForward: 'M5 4l5 4-5 4zM11.5 4v8',
} as const

export type IconName = keyof typeof paths

/** Decorative, because buttons have labels. */
export function Icon({ name, class: more = '' }: { name: IconName; class?: string }) {
  return (
    <svg class={`icon ${more}`} viewBox="0 0 16 16" width="16" height="16" aria-hidden="true">
      <path d={paths[name]} />
    </svg>
  )
}
