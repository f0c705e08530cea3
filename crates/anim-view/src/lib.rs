//! A software renderer for characters: PNG frames, contact sheets and onion skins.
