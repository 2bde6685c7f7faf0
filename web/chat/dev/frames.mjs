// One scripted frame of every shape, and of every trap.
const HOSTILE = `<script>window.hit=1</script><img src=x onerror="window.hit=1"></title>`;
const PICTURE = "/api/interactions/media/med_picture";

export const FRAMES = [
  { text: "Hello and welcome! This is plain text.\nLine breaks stay, *markup* is text, and https://ex.example.test/a?b=c is a link." },
  {
    header: { kind: "image", url: PICTURE, caption: "The terrace" },
    media: [
      { kind: "document", url: "https://files.example.test/menu.pdf", caption: "Menu of the week", filename: "menu.pdf" },
      { kind: "link", url: "https://ex.example.test/", caption: "Our site" },
    ],
    location: { latitude: 52.520008, longitude: 13.404954, name: "Bistro", address: "1 Main Street" },
    text: "Table for two at 19:00?",
    options: [
      { kind: "reply", id: "o:1:0", text: "Yes", description: "2 seats by the window" },
      { kind: "reply", id: "o:1:1", text: "Another time" },
      { kind: "link", label: "See the menu", url: "https://menu.example.test/today" },
    ],
    footer: "Reply by noon",
  },
  {
    text: "What would you like to drink?",
    sections: [
      { title: "Hot", rows: [{ id: "o:2:0", text: "Tea", description: "green or black" }, { id: "o:2:1", text: "Coffee" }] },
      { title: "Cold", rows: [{ id: "o:2:2", text: "Water" }] },
    ],
  },
  { media: [{ kind: "image", url: "/api/interactions/media/med_gone", caption: "A picture that is gone" }], text: "Its retention is over." },
  { media: [{ kind: "video", url: "/api/interactions/media/med_gone", caption: "A video that is gone" }] },
  { media: [{ kind: "audio", url: "/api/interactions/media/med_gone" }] },
  { text: "مرحبا بك في المطعم", options: [{ kind: "reply", id: "o:3:0", text: "نعم" }], footer: "قبل الظهر" },
  {
    header: { kind: "image", url: "javascript:window.hit=1", caption: HOSTILE },
    media: [
      { kind: "document", url: "javascript:window.hit=1", caption: HOSTILE, filename: "invoice\u202Efdp.exe" },
      { kind: "link", url: "javascript:window.hit=1", caption: "\u202Emoc.knab" },
      { kind: "link", url: "https://evil.example.test/", caption: "\u202Emoc.knab" },
    ],
    location: { latitude: 0, longitude: -0.5, name: HOSTILE, address: HOSTILE },
    text: `${HOSTILE} javascript:window.hit=1 \u202Eevil`,
    options: [
      { kind: "reply", id: "o:4:0", text: HOSTILE, description: HOSTILE },
      { kind: "link", label: HOSTILE, url: "javascript:window.hit=1" },
    ],
    footer: HOSTILE,
  },
  { event: "chat.form", text: "Your order", token: "f:01j0000000000000000000000a", model: {} },
  { raw: { dir: "out", text: "A frame without id and time" } },
  { text: "Parts that cannot be read", media: [{ kind: "image" }], options: [{ kind: "reply", text: "no id" }], sections: [{}] },
  { text: "W".repeat(300) + " long words break" },
  { options: [{ kind: "reply", id: "o:5:0", text: "A choice that is gone" }], text: "Goodbye" },
];
