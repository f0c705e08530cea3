//! Timecode: the names HH:MM:SS:FF that film and video give to frames, and drop-frame counting.
//!
//! Use it at the border to editors, cameras and motion capture; inside, frames are numbers and times are seconds of a
//! [`FrameClock`]. A name carries no rate, so a [`Timecode`] is a label, and a [`TimecodeFormat`] says which frame it
//! means. At 30000/1001 frames/s thirty names a second run 3.6 s late in an hour. Drop-frame counting, written with `;`,
//! catches up by leaving out the names (never the frames) 00 and 01 at the start of each minute that is no multiple of ten.
//!
//! ```
//! use anim_curves::{FrameClock, Timecode, TimecodeFormat};
//!
//! let broadcast = TimecodeFormat::new(FrameClock::NTSC, true)?;
//! let hour = Timecode::parse("01:00:00;00")?;
//! assert_eq!(broadcast.frame_of(hour)?, 107_892); // and not 108000
//! assert_eq!(broadcast.timecode_of(1800).to_string(), "00:01:00;02");
//! assert!(Timecode::parse("00:01:00;00").is_err()); // no frame has this name
//! # Ok::<(), anim_curves::CurveError>(())
//! ```
//!
//! Source: SMPTE ST 12-1, "Time and control code".

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::{CurveError, FrameClock};

/// The name of a frame, written `HH:MM:SS:FF`, or `HH:MM:SS;FF` if names are dropped; serialised as this text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Timecode {
    /// 0 to 23.
    pub hours: u8,
    /// 0 to 59.
    pub minutes: u8,
    /// 0 to 59.
    pub seconds: u8,
    /// 0 to below the format's frames in a second.
    pub frames: u16,
    /// True if counted with dropped names.
    pub drop_frame: bool,
}

impl Timecode {
    /// Reads `HH:MM:SS:FF` or `HH:MM:SS;FF`; frames have three digits at more than 100 a second.
    ///
    /// # Errors
    ///
    /// [`CurveError::Timecode`] if the text has another form or a part is out of its range, [`CurveError::DroppedFrame`]
    /// for names that drop-frame counting leaves out at every rate.
    pub fn parse(text: &str) -> Result<Self, CurveError> {
        let malformed = || CurveError::Timecode {
            text: text.to_owned(),
            reason: "not of the form HH:MM:SS:FF or HH:MM:SS;FF",
        };
        let drop_frame = text.contains(';');
        let mut parts = text.splitn(4, ':').collect::<Vec<_>>();
        if drop_frame {
            let last = parts.pop().unwrap_or_default();
            parts.extend(last.splitn(2, ';'));
        }
        let [hours, minutes, seconds, frames] = parts[..] else {
            return Err(malformed());
        };
        let number = |part: &str, digits: usize| {
            let is_number = part.bytes().all(|byte| byte.is_ascii_digit());
            (is_number && (2..=digits).contains(&part.len())).then(|| part.parse::<u16>().ok())?
        };
        let small = |part| number(part, 2).map(|value| value as u8);
        let timecode = Self {
            hours: small(hours).ok_or_else(malformed)?,
            minutes: small(minutes).ok_or_else(malformed)?,
            seconds: small(seconds).ok_or_else(malformed)?,
            frames: number(frames, 3).ok_or_else(malformed)?,
            drop_frame,
        };
        timecode.check()?;
        Ok(timecode)
    }

    /// Refuses what is no name at any rate: two names a minute are the fewest that are dropped.
    fn check(self) -> Result<(), CurveError> {
        if self.hours >= 24 || self.minutes >= 60 || self.seconds >= 60 {
            return Err(self.out_of_range("hours end at 23, minutes and seconds at 59"));
        }
        self.check_dropped(2)
    }

    fn check_dropped(self, dropped: u16) -> Result<(), CurveError> {
        let is_dropping = self.drop_frame && !self.minutes.is_multiple_of(10);
        if is_dropping && self.seconds == 0 && self.frames < dropped {
            return Err(CurveError::DroppedFrame { timecode: self });
        }
        Ok(())
    }

    fn out_of_range(self, reason: &'static str) -> CurveError {
        CurveError::Timecode {
            text: self.to_string(),
            reason,
        }
    }
}

/// How frames are named at a rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "(FrameClock, bool)", into = "(FrameClock, bool)")]
pub struct TimecodeFormat {
    clock: FrameClock,
    /// Names a second.
    nominal: u32,
    /// Names left out at the start of nine minutes of ten.
    dropped: u32,
}

impl TimecodeFormat {
    /// Names for the frames of `clock`: n a second, also where n·1000/1001 frames are shown in one.
    ///
    /// # Errors
    ///
    /// [`CurveError::TimecodeRate`] unless the rate is n or n·1000/1001 with n from 1 to 1000; with `drop_frame`, unless it
    /// is n·1000/1001 with n a multiple of 30: 29.97, 59.94 and their kind.
    pub fn new(clock: FrameClock, drop_frame: bool) -> Result<Self, CurveError> {
        let (numerator, denominator) = clock.into();
        let nominal = clock.rate().round() as u32;
        let (frames, seconds) = (u64::from(numerator), u64::from(denominator));
        let is_whole = frames == u64::from(nominal) * seconds;
        let is_broadcast = frames * 1001 == u64::from(nominal) * 1000 * seconds;
        let is_named = (1..=1000).contains(&nominal) && (is_whole || is_broadcast);
        let may_drop = is_broadcast && nominal.is_multiple_of(30);
        if !is_named || (drop_frame && !may_drop) {
            return Err(CurveError::TimecodeRate {
                numerator,
                denominator,
                drop_frame,
            });
        }
        Ok(Self {
            clock,
            nominal,
            dropped: if drop_frame { nominal / 15 } else { 0 },
        })
    }

    /// The clock of the frames.
    pub fn clock(&self) -> FrameClock {
        self.clock
    }

    /// True if names are dropped.
    pub fn is_drop_frame(&self) -> bool {
        self.dropped > 0
    }

    /// Frames in 24 hours of names: 2589408 at 29.97 frames/s with dropped names.
    pub fn frames_a_day(&self) -> i64 {
        i64::from(self.frames_in_ten_minutes()) * 6 * 24
    }

    /// The name of frame `frame`, counted from `00:00:00:00`; names come again after 24 hours, before and after.
    pub fn timecode_of(&self, frame: i64) -> Timecode {
        let frame = frame.rem_euclid(self.frames_a_day()) as u32;
        let (tens, rest) = (
            frame / self.frames_in_ten_minutes(),
            frame % self.frames_in_ten_minutes(),
        );
        // The first minute of ten is whole, the others are shorter by what they drop.
        let short_minutes = rest.saturating_sub(self.dropped) / (self.nominal * 60 - self.dropped);
        let name = frame + self.dropped * (9 * tens + short_minutes);
        let seconds = name / self.nominal;
        Timecode {
            hours: (seconds / 3600) as u8,
            minutes: (seconds / 60 % 60) as u8,
            seconds: (seconds % 60) as u8,
            frames: (name % self.nominal) as u16,
            drop_frame: self.is_drop_frame(),
        }
    }

    /// The frame of that name, from 0 to below [`frames_a_day`](Self::frames_a_day); the inverse of
    /// [`timecode_of`](Self::timecode_of).
    ///
    /// # Errors
    ///
    /// [`CurveError::Timecode`] if a part is out of range or the name is written for the other way of counting,
    /// [`CurveError::DroppedFrame`] if it is left out.
    pub fn frame_of(&self, timecode: Timecode) -> Result<i64, CurveError> {
        timecode.check()?;
        if u32::from(timecode.frames) >= self.nominal {
            return Err(timecode.out_of_range("there are not as many frames in a second"));
        }
        if timecode.drop_frame != self.is_drop_frame() {
            let reason = "';' is for drop-frame counting, ':' for counting without";
            return Err(timecode.out_of_range(reason));
        }
        timecode.check_dropped(self.dropped as u16)?;
        let minutes = u32::from(timecode.hours) * 60 + u32::from(timecode.minutes);
        let seconds = minutes * 60 + u32::from(timecode.seconds);
        let name = seconds * self.nominal + u32::from(timecode.frames);
        Ok(i64::from(name - self.dropped * (minutes - minutes / 10)))
    }

    fn frames_in_ten_minutes(&self) -> u32 {
        self.nominal * 600 - self.dropped * 9
    }
}

impl fmt::Display for Timecode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let separator = if self.drop_frame { ';' } else { ':' };
        write!(
            f,
            "{:02}:{:02}:{:02}{separator}{:02}",
            self.hours, self.minutes, self.seconds, self.frames
        )
    }
}

impl FromStr for Timecode {
    type Err = CurveError;

    fn from_str(text: &str) -> Result<Self, CurveError> {
        Self::parse(text)
    }
}

impl TryFrom<String> for Timecode {
    type Error = CurveError;

    fn try_from(text: String) -> Result<Self, CurveError> {
        Self::parse(&text)
    }
}

impl From<Timecode> for String {
    fn from(timecode: Timecode) -> Self {
        timecode.to_string()
    }
}

impl TryFrom<(FrameClock, bool)> for TimecodeFormat {
    type Error = CurveError;

    fn try_from((clock, drop_frame): (FrameClock, bool)) -> Result<Self, CurveError> {
        Self::new(clock, drop_frame)
    }
}

impl From<TimecodeFormat> for (FrameClock, bool) {
    fn from(format: TimecodeFormat) -> Self {
        (format.clock, format.is_drop_frame())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn format(clock: FrameClock, drop_frame: bool) -> TimecodeFormat {
        TimecodeFormat::new(clock, drop_frame).unwrap()
    }

    /// The next name, by the rule as it is written in the standard.
    fn next(mut code: Timecode, nominal: u16, dropped: u16) -> Timecode {
        code.frames += 1;
        if code.frames < nominal {
            return code;
        }
        (code.frames, code.seconds) = (0, code.seconds + 1);
        if code.seconds == 60 {
            (code.seconds, code.minutes) = (0, code.minutes + 1);
            if !code.minutes.is_multiple_of(10) {
                code.frames = dropped;
            }
        }
        if code.minutes == 60 {
            (code.minutes, code.hours) = (0, (code.hours + 1) % 24);
        }
        code
    }

    /// Counts through a whole day and compares every frame both ways.
    fn check_day(format: TimecodeFormat, nominal: u16, dropped: u16, frames: i64) {
        assert_eq!(format.frames_a_day(), frames);
        let first = format.timecode_of(0);
        let mut code = first;
        for frame in 0..frames {
            assert_eq!(format.timecode_of(frame), code);
            assert_eq!(format.frame_of(code), Ok(frame));
            code = next(code, nominal, dropped);
        }
        assert_eq!(code, first, "a day ends where it began");
    }

    #[test]
    fn a_day_of_drop_frames_is_named_both_ways() {
        check_day(format(FrameClock::NTSC, true), 30, 2, 2_589_408);
    }

    #[test]
    fn a_day_of_drop_frames_at_twice_the_rate_is_named_both_ways() {
        check_day(format(FrameClock::NTSC_60, true), 60, 4, 5_178_816);
    }

    #[test]
    fn a_day_of_film_is_named_both_ways() {
        check_day(format(FrameClock::FILM, false), 24, 0, 24 * 86_400);
    }

    #[test]
    fn drop_frame_names_keep_to_the_clock_on_the_wall() {
        let format = format(FrameClock::NTSC, true);
        for hour in 0..24 {
            let timecode = Timecode::parse(&format!("{hour:02}:00:00;00")).unwrap();
            let time = format.clock().time_of(format.frame_of(timecode).unwrap());
            // 3.6 ms fast in an hour, 86 ms in a day.
            assert!((time - f64::from(hour) * 3599.9964).abs() < 1e-6);
        }
    }

    #[test]
    fn dropped_names_are_refused() {
        for text in ["00:01:00;00", "00:01:00;01", "23:59:00;00"] {
            let error = Timecode::parse(text).unwrap_err();
            assert!(matches!(error, CurveError::DroppedFrame { .. }), "{text}");
        }
        for text in ["00:01:00;02", "00:10:00;00", "00:00:00;01", "00:01:01;00"] {
            assert_eq!(Timecode::parse(text).unwrap().to_string(), text);
        }
        // Twice the rate drops four names.
        let third = Timecode::parse("00:01:00;03").unwrap();
        let error = format(FrameClock::NTSC_60, true).frame_of(third);
        assert_eq!(error, Err(CurveError::DroppedFrame { timecode: third }));
        assert_eq!(format(FrameClock::NTSC, true).frame_of(third), Ok(1801));
        let text = error.unwrap_err().to_string();
        assert!(text.contains("00:01:00;03"), "{text}");
    }

    #[test]
    fn names_of_another_form_are_refused() {
        let texts = [
            "",
            "1:2:3:4",
            "00:00:00",
            "00:00:00:00:00",
            "00:00:60:00",
            "00:60:00:00",
            "24:00:00:00",
            "00;00;00;00",
            "00:00:00;00;00",
            "-1:00:00:00",
            "00:00:00:0x",
            "+1:00:00:00",
            "00:00:00.00",
            "00:00:00:0000",
        ];
        for text in texts {
            let error = Timecode::parse(text).unwrap_err();
            assert!(matches!(error, CurveError::Timecode { .. }), "{text}");
        }
        let film = format(FrameClock::FILM, false);
        for text in ["00:00:00:24", "00:00:00;23"] {
            let error = film.frame_of(Timecode::parse(text).unwrap()).unwrap_err();
            assert!(matches!(error, CurveError::Timecode { .. }), "{text}");
        }
    }

    #[test]
    fn only_rates_with_names_have_a_format() {
        let clock = |n, d| FrameClock::new(n, d).unwrap();
        for (clock, drop_frame) in [
            (clock(25, 2), false),
            (clock(1, 2), false),
            (clock(1001, 1), false),
            (FrameClock::NTSC_FILM, true),
            (FrameClock::PAL, true),
            (FrameClock::FPS_30, true),
        ] {
            let error = TimecodeFormat::new(clock, drop_frame).unwrap_err();
            assert!(matches!(error, CurveError::TimecodeRate { .. }));
        }
        let fast = format(FrameClock::FPS_144, false);
        assert_eq!(fast.timecode_of(287).to_string(), "00:00:01:143");
        assert_eq!(Timecode::parse("00:00:01:143"), Ok(fast.timecode_of(287)));
        assert_eq!(
            format(clock(60_000, 2002), true),
            TimecodeFormat {
                clock: clock(60_000, 2002),
                ..format(FrameClock::NTSC, true)
            }
        );
    }

    #[test]
    fn names_come_again_every_day() {
        let format = format(FrameClock::NTSC, true);
        assert_eq!(format.timecode_of(-1).to_string(), "23:59:59;29");
        assert_eq!(
            format.timecode_of(format.frames_a_day() * 3).to_string(),
            "00:00:00;00"
        );
    }

    #[test]
    fn serialised_names_and_formats_are_checked_on_the_way_in() {
        let name = Timecode::parse("10:20:30;02").unwrap();
        assert_eq!(String::from(name), "10:20:30;02");
        assert_eq!(Timecode::try_from(String::from(name)), Ok(name));
        assert!(Timecode::try_from("10:21:00;00".to_owned()).is_err());
        let broadcast = format(FrameClock::NTSC, true);
        let (clock, drop_frame) = broadcast.into();
        assert_eq!(TimecodeFormat::try_from((clock, drop_frame)), Ok(broadcast));
        assert!(TimecodeFormat::try_from((FrameClock::PAL, true)).is_err());
    }

    proptest! {
        #[test]
        fn any_text_either_fails_or_is_written_back(text in "[0-9:;. ]{0,14}") {
            if let Ok(timecode) = Timecode::parse(&text) {
                prop_assert!(text.len() == 12 || timecode.to_string() == text);
                prop_assert_eq!(Timecode::parse(&timecode.to_string()), Ok(timecode));
            }
        }

        #[test]
        fn any_parts_either_fail_or_name_a_frame(hours: u8, minutes: u8, seconds: u8, frames: u16, drop_frame: bool, frame: i64) {
            let timecode = Timecode { hours, minutes, seconds, frames, drop_frame };
            for format in [format(FrameClock::NTSC, drop_frame), format(FrameClock::FILM, false)] {
                if let Ok(frame) = format.frame_of(timecode) {
                    prop_assert_eq!(format.timecode_of(frame), timecode);
                }
                let again = format.frame_of(format.timecode_of(frame)).unwrap();
                prop_assert_eq!(again, frame.rem_euclid(format.frames_a_day()));
            }
        }
    }
}
